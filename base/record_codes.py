# Written by `python -m tinct.base.record_shapes`: change that file, not this one.
# ruff: noqa: D103, F821
# mypy: ignore-errors
# pyright: basic, reportUndefinedVariable=false

"""Functions whose code `record_shapes` gives to the classes of records and named tuples."""


def plain_0_to_complete(self):
    _complete(self)


def plain_1_to_complete(self, field0):
    self.field0 = field0
    _complete(self)


def plain_2_to_complete(self, field0, field1):
    self.field0 = field0
    self.field1 = field1
    _complete(self)


def plain_3_to_complete(self, field0, field1, field2):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    _complete(self)


def plain_4_to_complete(self, field0, field1, field2, field3):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    _complete(self)


def plain_5_to_complete(self, field0, field1, field2, field3, field4):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    _complete(self)


def plain_6_to_complete(self, field0, field1, field2, field3, field4, field5):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    _complete(self)


def plain_7_to_complete(self, field0, field1, field2, field3, field4, field5, field6):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6
    _complete(self)


def plain_8_to_complete(self, field0, field1, field2, field3, field4, field5, field6, field7):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6
    self.field7 = field7
    _complete(self)


def plain_9_to_complete(self, field0, field1, field2, field3, field4, field5, field6, field7, field8):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6
    self.field7 = field7
    self.field8 = field8
    _complete(self)


def plain_10_to_complete(self, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6
    self.field7 = field7
    self.field8 = field8
    self.field9 = field9
    _complete(self)


def plain_0(self):
    pass


def plain_1(self, field0):
    self.field0 = field0


def plain_2(self, field0, field1):
    self.field0 = field0
    self.field1 = field1


def plain_3(self, field0, field1, field2):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2


def plain_4(self, field0, field1, field2, field3):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3


def plain_5(self, field0, field1, field2, field3, field4):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4


def plain_6(self, field0, field1, field2, field3, field4, field5):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5


def plain_7(self, field0, field1, field2, field3, field4, field5, field6):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6


def plain_8(self, field0, field1, field2, field3, field4, field5, field6, field7):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6
    self.field7 = field7


def plain_9(self, field0, field1, field2, field3, field4, field5, field6, field7, field8):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6
    self.field7 = field7
    self.field8 = field8


def plain_10(self, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9):
    self.field0 = field0
    self.field1 = field1
    self.field2 = field2
    self.field3 = field3
    self.field4 = field4
    self.field5 = field5
    self.field6 = field6
    self.field7 = field7
    self.field8 = field8
    self.field9 = field9


def frozen_0_to_complete(self):
    _complete(self)


def frozen_1_to_complete(self, field0):
    _set(self, "field0", field0)
    _complete(self)


def frozen_2_to_complete(self, field0, field1):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _complete(self)


def frozen_3_to_complete(self, field0, field1, field2):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _complete(self)


def frozen_4_to_complete(self, field0, field1, field2, field3):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _complete(self)


def frozen_5_to_complete(self, field0, field1, field2, field3, field4):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _complete(self)


def frozen_6_to_complete(self, field0, field1, field2, field3, field4, field5):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _complete(self)


def frozen_7_to_complete(self, field0, field1, field2, field3, field4, field5, field6):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)
    _complete(self)


def frozen_8_to_complete(self, field0, field1, field2, field3, field4, field5, field6, field7):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)
    _set(self, "field7", field7)
    _complete(self)


def frozen_9_to_complete(self, field0, field1, field2, field3, field4, field5, field6, field7, field8):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)
    _set(self, "field7", field7)
    _set(self, "field8", field8)
    _complete(self)


def frozen_10_to_complete(self, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)
    _set(self, "field7", field7)
    _set(self, "field8", field8)
    _set(self, "field9", field9)
    _complete(self)


def frozen_0(self):
    pass


def frozen_1(self, field0):
    _set(self, "field0", field0)


def frozen_2(self, field0, field1):
    _set(self, "field0", field0)
    _set(self, "field1", field1)


def frozen_3(self, field0, field1, field2):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)


def frozen_4(self, field0, field1, field2, field3):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)


def frozen_5(self, field0, field1, field2, field3, field4):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)


def frozen_6(self, field0, field1, field2, field3, field4, field5):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)


def frozen_7(self, field0, field1, field2, field3, field4, field5, field6):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)


def frozen_8(self, field0, field1, field2, field3, field4, field5, field6, field7):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)
    _set(self, "field7", field7)


def frozen_9(self, field0, field1, field2, field3, field4, field5, field6, field7, field8):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)
    _set(self, "field7", field7)
    _set(self, "field8", field8)


def frozen_10(self, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9):
    _set(self, "field0", field0)
    _set(self, "field1", field1)
    _set(self, "field2", field2)
    _set(self, "field3", field3)
    _set(self, "field4", field4)
    _set(self, "field5", field5)
    _set(self, "field6", field6)
    _set(self, "field7", field7)
    _set(self, "field8", field8)
    _set(self, "field9", field9)


def tuple_1(cls, field0):
    return _new(cls, (field0,))


def tuple_2(cls, field0, field1):
    return _new(cls, (field0, field1))


def tuple_3(cls, field0, field1, field2):
    return _new(cls, (field0, field1, field2))


def tuple_4(cls, field0, field1, field2, field3):
    return _new(cls, (field0, field1, field2, field3))


def tuple_5(cls, field0, field1, field2, field3, field4):
    return _new(cls, (field0, field1, field2, field3, field4))
