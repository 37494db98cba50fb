"""What the rig raises when a component can't be had or does not run."""


class RigError(Exception):
    """The rig can't give what a test needs; the text says why. Tests that need it fail, they never skip."""
