"""Parsers of other engines than vLLM, imported from their wheels without the packages that those require.

service     one engine loaded, then orders in and outcomes out, as `vllm_worker` does it
outcomes    one order → the outcome of every parser that it names
sglang      SGLang's tool and reasoning parsers
mlx_lm      mlx-lm's tool parsers
lmdeploy    LMDeploy's tool and reasoning parsers
transformers  the response templates that `transformers serve` reads with

A further engine is one more module here with `load`, `tool_parsers`, `reasoning_parsers` and `reader`, and its row in
`core.parse.engines.wheels`.
"""
