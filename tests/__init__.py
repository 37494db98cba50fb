"""The tests: they mirror the package; shared test code lives in packages of its own, such as `tests.rig`."""
