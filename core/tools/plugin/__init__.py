"""A parser plugin for vLLM, made of this project's readers as they are.

inside    what runs in the server: the readers' results, piece by piece, and the classes that vLLM asks for
bundle    the modules that some modules need, by their imports
write     one file of them

Nothing is imported here: `inside` is carried into servers without the rest.
"""
