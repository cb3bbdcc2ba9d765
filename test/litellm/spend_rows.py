"""What LiteLLM's own database client would do, which downloads an engine at its start: each row of spend, as LiteLLM itself
makes it, goes to PostgreSQL, and the spend of a key is the sum of its rows."""

import json
import os

import psycopg2
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import ProxyException, UserAPIKeyAuth, hash_token
from litellm.proxy.spend_tracking.spend_tracking_utils import get_logging_payload

KEY = "sk-audited"

"""The input price per token of `big` (config.yaml)."""
INPUT_PRICE = 0.000004


def with_fault(row, usage, is_stream):
    """The row as a release with a public fault wrote it; the file `fault` names one, and without it the row is LiteLLM's own."""
    try:
        with open("fault", encoding="utf-8") as file:
            fault = file.read().strip()
    except FileNotFoundError:
        return row
    cached = ((usage.get("prompt_tokens_details") or {}).get("cached_tokens")) or 0
    # BerriAI/litellm#37923: streams of one upstream were logged at cost 0.
    if fault == "stream-free" and is_stream:
        return {**row, "spend": 0.0}
    # BerriAI/litellm#6215: cached tokens cost the full price and the cached price on top.
    if fault == "cached-double":
        return {**row, "spend": row["spend"] + cached * INPUT_PRICE}
    # BerriAI/litellm#40100: the row's cost was 0 while the breakdown in the same row held the right cost.
    if fault == "log-total-zero" and row["model_group"] == "small":
        return {**row, "spend": 0.0}
    return row


def connect():
    made = psycopg2.connect(os.environ["SPEND_DATABASE"])
    made.autocommit = True
    return made


async def auth(request, api_key):
    if api_key not in (KEY, "sk-master"):
        raise ProxyException(message="unknown key", type="auth_error", param="key", code=401)
    hashed = hash_token(api_key)
    cursor = connect().cursor()
    cursor.execute('select coalesce(sum(spend), 0) from "LiteLLM_SpendLogs" where api_key = %s', (hashed,))
    return UserAPIKeyAuth(api_key=hashed, token=hashed, spend=float(cursor.fetchone()[0]), user_id="audited")


class Rows(CustomLogger):
    def __init__(self):
        super().__init__()
        self.connection = None

    def write(self, kwargs, response, start, end):
        if self.connection is None:
            self.connection = connect()
        cursor = self.connection.cursor()
        cursor.execute(
            "select column_name from information_schema.columns where table_name = 'LiteLLM_SpendLogs'"
        )
        known = {name for (name,) in cursor.fetchall()}
        row = get_logging_payload(kwargs=kwargs, response_obj=response, start_time=start, end_time=end)
        usage = (kwargs.get("standard_logging_object") or {}).get("metadata", {}).get("usage_object") or {}
        row = with_fault(dict(row), usage, kwargs.get("stream") is True)
        row = {name: value for name, value in row.items() if name in known}
        values = [json.dumps(value) if isinstance(value, (dict, list)) else value for value in row.values()]
        names = ", ".join(f'"{name}"' for name in row)
        places = ", ".join(["%s"] * len(row))
        cursor.execute(f'insert into "LiteLLM_SpendLogs" ({names}) values ({places}) on conflict do nothing', values)

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs, response_obj, start_time, end_time)

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs, response_obj or {}, start_time, end_time)


rows = Rows()
