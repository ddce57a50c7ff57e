"""The tests that pass on the control and may fail on ours."""

#: Why, by the name of the test. There are at most five.
EXCEPTIONS: dict[str, str] = {}
