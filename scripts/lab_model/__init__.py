"""How the lab model is made: dialogues → tokenizer → training → measurement.

names      words the model must copy, with a held-out part it never trains on
families   what tools mean, and how they are named, asked for and answered
tools      tools as one request declares them, and what a user asks of them
turns      a conversation being written, with its habit of call ids
dialogues  whole requests with the behaviour and the habits to be learnt
rendering  requests → the exact prompt text that a vLLM server would render
tokenizer  a byte-level BPE vocabulary with the Kimi K2 control tokens
training   the network and its three-stage curriculum
build      plan → tokenizer → folder that vLLM can serve
measure    greedy answers to held-out requests, counted
card       the README next to the weights
"""
