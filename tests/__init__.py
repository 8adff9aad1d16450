"""The test suite: mirrors the packages it tests."""
