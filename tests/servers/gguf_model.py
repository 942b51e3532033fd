"""The lab model as a GGUF file, so that llama.cpp's server can serve it; written when a test asks for it.

The llama architecture of GGUF wants the query and key weights with the two halves of each head interleaved
(rotary embeddings on neighbouring values instead of on halves); everything else goes over as it is.
Token ids stay those of the tokenizer; a test compares them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors import safe_open

# llama.cpp knows ways of cutting text into words by name, and ours is none of them. This one cuts at digits alone.
# A coarser cut than ours gives the same ids: no merge of our vocabulary reaches across the borders of our words.
_CUT = "superbpe"

_WEIGHT_BY_NAME = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(model_dir: Path, file: Path, *, chat_template: Path | None = None) -> None:
    """Write a llama model folder of one safetensors file as GGUF, in 32 bits."""
    config = json.loads((model_dir / "config.json").read_text(encoding="utf-8"))
    template = chat_template or model_dir / "chat_template.jinja"
    writer = gguf.GGUFWriter(file, "llama")
    _add_shape(writer, config)
    _add_vocabulary(writer, model_dir, config["vocab_size"])
    writer.add_chat_template(template.read_text(encoding="utf-8"))
    _add_weights(writer, model_dir / "model.safetensors", config)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_shape(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    writer.add_name("lab-model")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


def _add_vocabulary(writer: gguf.GGUFWriter, model_dir: Path, size: int) -> None:
    tokenizer = json.loads((model_dir / "tokenizer.json").read_text(encoding="utf-8"))
    settings = json.loads((model_dir / "tokenizer_config.json").read_text(encoding="utf-8"))
    text_by_id = {token_id: text for text, token_id in tokenizer["model"]["vocab"].items()}
    types = dict.fromkeys(text_by_id, gguf.TokenType.NORMAL)
    for token in tokenizer["added_tokens"]:
        text_by_id[token["id"]] = token["content"]
        types[token["id"]] = gguf.TokenType.CONTROL if token["special"] else gguf.TokenType.USER_DEFINED
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(_CUT)
    writer.add_token_list([text_by_id[token_id] for token_id in range(size)])
    writer.add_token_types([types[token_id] for token_id in range(size)])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    id_by_text = {text: token_id for token_id, text in text_by_id.items()}
    writer.add_eos_token_id(id_by_text[settings["eos_token"]])
    writer.add_add_bos_token(False)


def _add_weights(writer: gguf.GGUFWriter, file: Path, config: dict[str, Any]) -> None:
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    with safe_open(file, framework="pt") as weights:

        def weight(name: str) -> np.ndarray:
            values: np.ndarray = weights.get_tensor(name).float().numpy()
            return values

        writer.add_tensor("token_embd.weight", weight("model.embed_tokens.weight"))
        writer.add_tensor("output_norm.weight", weight("model.norm.weight"))
        for layer in range(config["num_hidden_layers"]):
            for ours, theirs in _WEIGHT_BY_NAME.items():
                values = weight(f"model.layers.{layer}.{ours}.weight")
                if theirs in heads:
                    values = _interleave_halves(values, heads[theirs])
                writer.add_tensor(f"blk.{layer}.{theirs}.weight", values)


def _interleave_halves(values: np.ndarray, heads: int) -> np.ndarray:
    rows, columns = values.shape
    return values.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
