@id(3) override limit: i32;
override on = true;
override both = on && limit > 2;
override either = both || limit == 0;
var<private> start = limit * 2;

@compute @workgroup_size(4)
fn main() {
  if either { start += limit; }
}
