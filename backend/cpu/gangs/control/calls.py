"""Calls of functions from a gang. Arguments and results are in memory (see `backend.cpu.called`)."""

from __future__ import annotations

from .....ir.hercules import nodes as h
from .....ir.hercules.types import is_collection
from ..context import GangContext
from ..values.values import GangValues
from .masks import Masks


class CallEmitter:
    """Writes calls. Uniform arguments are passed once, and uniform calls are made once."""

    def __init__(self, context: GangContext, values: GangValues, masks: Masks) -> None:
        self._types, self._plan, self._shapes = context.types, context.plan, context.shapes
        self._lanes = context.gang.lanes
        self._calls, self._memory = context.nodes.calls, context.nodes.memory
        self._site = context.site
        self._values = values
        self._masks = masks

    def emit(self, node: h.Call) -> None:
        """One call for each part, or a single one if all lanes make the same call."""
        if self._shapes.is_uniform_call(node):
            self._emit_once(node)
            return
        given = {index: it for index, it in enumerate(node.arguments) if not is_collection(self._types[it])}
        uniform = frozenset(index for index, it in given.items() if self._values.is_uniform(it))
        values, memory = self._values, self._values.memory
        call_site = self._calls.find(node, self._lanes, uniform)
        for index, address in call_site.uniform.items():
            self._memory.store(values.scalar(given[index]), address)
        for _ in self._site.parts():
            with self._masks.if_any_lane():
                for index, address in call_site.varying.items():
                    memory.store_private(values.vector(given[index]), address)
                memory.store_private(self._masks.text(), call_site.mask)
                self._calls.call(node, call_site, memory.private.pointer(self._plan.of(node)))

    def _emit_once(self, node: h.Call) -> None:
        call_site = self._calls.find(node, 1)
        for index, address in call_site.varying.items():
            self._memory.store(self._values.scalar(node.arguments[index]), address)
        self._calls.call(node, call_site, self._calls.common_results(node, call_site.way)[0])

    def common_result(self, node: h.Read, call: h.Call) -> str:
        """The result of a uniform call."""
        (index,) = node.indices
        assert isinstance(index, h.FieldIndex)
        call_site = self._calls.find(call, 1)
        return self._memory.load(self._calls.common_results(call, call_site.way)[1][index.field])
