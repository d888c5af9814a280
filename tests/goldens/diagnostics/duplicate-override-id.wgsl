@id(1) override width = 8;
@id(1) override height = 8;
// two overrides have the same `@id`
