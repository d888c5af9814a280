"""What the processor's operations cost: measured on the machine and kept, or from a table. Code is chosen by it."""

from .kept import adopt_costs, costs_so_far, machine_costs, measure_again, measure_if_due, measurements
from .model import AccessCosts, Cache, Copying, MachineCosts
from .processor import processor_fact, processor_name

__all__ = [
    "AccessCosts",
    "Cache",
    "Copying",
    "MachineCosts",
    "adopt_costs",
    "costs_so_far",
    "machine_costs",
    "measure_again",
    "measure_if_due",
    "measurements",
    "processor_fact",
    "processor_name",
]
