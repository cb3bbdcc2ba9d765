"""Random prices and usage, with the cost that LiteLLM's own calculator gives: one JSON case a line."""

import json
import os
import random
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from litellm.litellm_core_utils.llm_cost_calc.utils import generic_cost_per_token
from litellm.types.utils import Usage

rng = random.Random(int(sys.argv[2]))


def per_token():
    """A price of a million tokens in whole cents, for one token, as LiteLLM's map has it."""
    return float(f"{rng.randint(1, 9000)}e-8")


def maybe(share):
    return rng.random() < share


def prices():
    info = {"input_cost_per_token": per_token(), "output_cost_per_token": per_token()}
    for name, share in [
        ("cache_read_input_token_cost", 0.7),
        ("cache_creation_input_token_cost", 0.6),
        ("cache_creation_input_token_cost_above_1hr", 0.4),
        ("output_cost_per_reasoning_token", 0.3),
        ("input_cost_per_audio_token", 0.3),
        ("output_cost_per_audio_token", 0.3),
    ]:
        if maybe(share):
            info[name] = per_token()
    bases = ["input_cost_per_token", "output_cost_per_token"]
    if "cache_read_input_token_cost" in info:
        bases.append("cache_read_input_token_cost")
    if "cache_creation_input_token_cost" in info:
        bases.append("cache_creation_input_token_cost")
    for size in [each for each in (128, 200, 272) if maybe(0.3)]:
        for base in bases:
            info[f"{base}_above_{size}k_tokens"] = per_token()
    for tier in [each for each in ("flex", "priority") if maybe(0.3)]:
        for base in ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost"):
            if base in info:
                info[f"{base}_{tier}"] = per_token()
    return info


def usage_of():
    prompt = rng.choice([rng.randint(1, 5000), rng.randint(120_000, 300_000), 128_000, 200_000, 200_001])
    output = rng.randint(0, 5000)
    left = prompt
    details = {}
    for name, share in [("cached_tokens", 0.6), ("cache_creation_tokens", 0.5), ("audio_tokens", 0.3)]:
        if maybe(share):
            details[name] = rng.randint(0, left)
            left -= details[name]
    if details.get("cache_creation_tokens") and maybe(0.6):
        hour = rng.randint(0, details["cache_creation_tokens"])
        details["cache_creation_token_details"] = {
            "ephemeral_5m_input_tokens": details["cache_creation_tokens"] - hour,
            "ephemeral_1h_input_tokens": hour,
        }
    generated = {}
    left = output
    for name, share in [("reasoning_tokens", 0.5), ("audio_tokens", 0.3)]:
        if maybe(share):
            generated[name] = rng.randint(0, left)
            left -= generated[name]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": details,
        "completion_tokens_details": generated,
    }


for _ in range(int(sys.argv[1])):
    info, usage = prices(), usage_of()
    tier = rng.choice([None, None, "flex", "priority"])
    cost = generic_cost_per_token(
        model="m", usage=Usage(**usage), custom_llm_provider="openai", service_tier=tier, model_info=info
    )
    print(json.dumps({"info": info, "usage": usage, "tier": tier, "cost": sum(cost)}))
