"""Search for what runs fastest on a device: decisions of loop nests, and overrides of kernels.

- `search`: beam and evolutionary search over any space of points, which a time limit, Ctrl-C or the end of the space
  stops. What a point takes is asked of a function, so that tests need no clock.
- `decision_space`: the points of a nest. `choices` and `moves` are the tables of what can be decided: a new kind of
  decision is one function in one of them.
- `cost`, `rates`: what a point takes at least, and probably, from what the device was measured to do.
- `bench`: points are timed on buffers that stay on the device, and their results compared. `pace`: whether the machine
  became slower or faster meanwhile.
- `trial_data`: the sizes and inputs that points of a nest are checked with. `allowance`: how far their results may be
  apart. `nest_jobs`: points as jobs of a bench.
- `kept`: results on disk. `nest_tuning`, `kernel_tuning`: the two uses.
"""
