"""What the processor's operations cost: measured on the machine, once, or from a table. Code is chosen by it."""

from .kept import costs_so_far, machine_costs, measure_again, measure_if_new
from .model import AccessCosts, Cache, MachineCosts
from .processor import processor_fact, processor_name

__all__ = [
    "AccessCosts",
    "Cache",
    "MachineCosts",
    "costs_so_far",
    "machine_costs",
    "measure_again",
    "measure_if_new",
    "processor_fact",
    "processor_name",
]
