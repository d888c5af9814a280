"""Control flow, dominance, forks, loops, placement; and that none of it goes stale."""

from __future__ import annotations

from tinct.ir.hercules import dynamic
from tinct.ir.hercules.analyses import control_graph, dominators, fork_nest, loop_nest, post_dominators
from tinct.ir.hercules.graph import def_use, predecessors, replace_predecessor
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.nodes import BinaryOp, DynamicOp, Fork, Function, Join, Module, Node
from tinct.ir.hercules.placement import place_nodes
from tinct.ir.hercules.text import node_names, parse
from tinct.ir.hercules.types import BOOL, I32
from tinct.ir.hercules.verify import check
from tinct.ir.hercules.versions import anti_dependences, consumed, looked_at

from .builder import FunctionBuilder
from .generate import generate
from .support import load, node_of


def names(function: Function, nodes: object) -> list[str]:
    table = node_names(function)
    assert isinstance(nodes, (list, tuple))
    return [table[it] for it in nodes]


def test_def_use_is_the_inverse_of_predecessors() -> None:
    for seed in range(5):
        function = generate(seed).functions[0]
        users = def_use(function)
        pairs = {(used, user) for user in function.nodes for used in predecessors(user)}
        assert pairs == {(used, user) for used, them in users.items() for user in them}


def test_dominators_of_a_branch() -> None:
    function = load("exchange").functions[0]
    graph = control_graph(function)
    assert names(function, graph.order) == ["start", "branch", "left", "right", "merge", "done"]
    tree = dominators(graph)
    left, right, merge, branch = (node_of(function, it) for it in ("left", "right", "merge", "branch"))
    assert tree.parent[merge] is branch
    assert tree.common(left, right) is branch
    assert tree.dominates(branch, merge)
    assert not tree.dominates(left, merge)
    assert post_dominators(graph).dominates(merge, left)
    assert not post_dominators(graph).dominates(left, branch)


def test_dominators_agree_with_their_definition() -> None:
    """A node dominates another if the other cannot be reached once the one is removed."""
    for seed in range(12):
        graph = control_graph(generate(seed).functions[0])
        tree = dominators(graph)
        for above in graph.order:
            reached: set[Node] = set()
            pending = [] if above is graph.order[0] else [graph.order[0]]
            while pending:
                node = pending.pop()
                if node not in reached and node is not above:
                    reached.add(node)
                    pending.extend(graph.successors[node])
            assert {it for it in graph.order if tree.dominates(above, it)} == set(graph.order) - reached


def test_forks_nest() -> None:
    function = load("matmul").functions[0]
    nest = fork_nest(control_graph(function))
    pairs = {(names(function, [fork, join])[0], names(function, [fork, join])[1]) for fork, join in nest.joins.items()}
    assert pairs == {("rows", "rows_end"), ("columns", "columns_end"), ("inner", "inner_end")}
    inner, join = node_of(function, "inner"), node_of(function, "inner_end")
    assert isinstance(inner, Fork)
    assert isinstance(join, Join)
    assert names(function, nest.around[inner]) == ["rows", "columns", "inner"]
    assert names(function, nest.around[join]) == ["rows", "columns"]


def test_loops() -> None:
    function = load("loop").functions[0]
    (loop,) = loop_nest(control_graph(function)).loops
    assert names(function, [loop.header, *loop.latches]) == ["header", "body"]
    assert set(names(function, loop.body)) == {"header", "test", "body"}


def test_values_run_outside_of_forks_and_inside_of_branches() -> None:
    function = load("saxpy").functions[0]
    placed = place_nodes(function)
    assert not placed.problems
    where = {name: placed.place[node] for node, name in node_names(function).items() if node in placed.place}
    assert where["base"] is node_of(function, "groups")
    assert where["inside"] is node_of(function, "lanes")
    assert {where[it] for it in ("old", "factor", "scaled", "new", "y_written")} == {node_of(function, "body")}


def test_readers_come_before_the_consumer() -> None:
    text = """fn f(v: array<u64, 2>, p: u64) -> array<u64, 2> {
      old = read(v, position(p))
      other = read(v, position(old))
      w = write(v, other, position(p))
      again = write(w, old, position(other))
      done = return(start, again)
    }"""
    function = parse(text).functions[0]
    types = infer_types(function)
    uses = [(version, use) for node in function.nodes for version, use in looked_at(node, types)]
    takes = [(version, use) for node in function.nodes for version, use in consumed(node, types, {})]
    readers = {version: [use for it, use in uses if it is version] for version, _ in uses}
    consumers = {version: [use for it, use in takes if it is version] for version, _ in takes}
    before = anti_dependences(consumers, readers)
    assert {it.label: names(function, before[it]) for it in before} == {"w": ["old", "other"]}
    (order,) = place_nodes(function).blocks.values()
    assert names(function, order) == ["old", "other", "w", "again"]


def test_dominators_of_deep_graphs_agree_with_their_chains() -> None:
    """Jumps and numbers say what the parents say."""
    b = FunctionBuilder("f", BOOL)
    control: Node = b.start
    c = b.parameter("c", BOOL)
    for _ in range(40):
        control = b.region(b.if_(control, c))
    b.return_(control, c)
    graph = control_graph(b.function)
    tree = dominators(graph)
    chains = {node: list(tree.chain(node)) for node in graph.order}
    for node in graph.order:
        for other in graph.order:
            assert tree.dominates(other, node) == (other in chains[node])
    for left in graph.order[::3]:
        for right in graph.order:
            assert tree.common(left, right) is next(it for it in chains[left] if it in chains[right])


def test_analyses_follow_edits() -> None:
    """Nothing is cached: an edit is seen by the next question."""
    b = FunctionBuilder("f", I32)
    a, c = b.parameter("a", I32), b.parameter("c", I32)
    total = b.binary(BinaryOp.ADD, a, c)
    b.return_(b.start, total)
    check(Module([b.function]))
    assert run(b.function, [], [3, 4]) == 7
    assert def_use(b.function)[c] == (total,)
    replace_predecessor(total, c, a)
    assert run(b.function, [], [3, 4]) == 6
    assert def_use(b.function)[c] == ()
    fork = b.fork(b.start, 2)
    join = b.join(fork)
    returned = b.function.nodes.pop(-3)
    replace_predecessor(returned, b.start, join)
    b.function.nodes.append(returned)
    assert fork_nest(control_graph(b.function)).joins == {fork: join}
    assert infer_types(b.function)[total] == I32
    check(Module([b.function]))


def test_dynamic_constants_fold() -> None:
    n = dynamic.DynamicParameter(0)
    four = dynamic.literal(4)
    assert dynamic.add(four, dynamic.literal(-1)) == dynamic.literal(3)
    assert dynamic.mul(dynamic.literal(1), n) is n
    assert dynamic.mul(n, dynamic.literal(0)) == dynamic.literal(0)
    assert dynamic.sub(n, n) == dynamic.literal(0)
    assert dynamic.evaluate(dynamic.div(n, dynamic.sub(n, four)), [4]) == 0
    assert dynamic.evaluate(dynamic.rem(n, four), [7]) == 3
    assert dynamic.substitute(dynamic.add(n, four), [dynamic.literal(5)]) == dynamic.literal(9)
    for op in DynamicOp:
        for left in (0, 1, 5, dynamic.MASK):
            for right in (0, 1, 5, dynamic.MASK):
                made = dynamic.binary(op, n, dynamic.literal(right))
                assert dynamic.evaluate(made, [left]) == dynamic.compute(op, left, right)
                made = dynamic.binary(op, dynamic.literal(left), n)
                assert dynamic.evaluate(made, [right]) == dynamic.compute(op, left, right)
