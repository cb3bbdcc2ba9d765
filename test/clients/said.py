"""Prints the result of each call as a line of JSON: its name and its value, or its error."""
import json, os

KEY, BASE_URL, MODEL = os.environ['ASSAY_API_KEY'], os.environ['BASE_URL'], 'svc-k2'
HELLO = [{'role': 'user', 'content': 'Say hello'}]
SAY = [{'role': 'user', 'content': 'Say: one two'}]


def call(name, does):
    try:
        said = {'name': name, 'value': does()}
    except Exception as error:
        said = {'name': name, 'error': f'{type(error).__name__}: {error}'}
    print(json.dumps(said), flush=True)
