"""The wiki of a fictional company in the shapes of the Notion API, for the demo and the tests."""
