import os

os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'
import litellm
from said import BASE_URL, KEY, MODEL, SAY, call

litellm.telemetry = False
function = {
    'name': 'get_weather',
    'parameters': {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city']},
}
tools = [{'type': 'function', 'function': function}]
ways = {
    'chat': {'model': f'openai/{MODEL}', 'api_base': f'{BASE_URL}/v1'},
    'messages': {'model': f'anthropic/{MODEL}', 'api_base': BASE_URL},
}


def streamed(create):
    text, usage = '', None
    for chunk in create(stream=True, stream_options={'include_usage': True}):
        text += (chunk.choices[0].delta.content or '') if chunk.choices else ''
        usage = getattr(chunk, 'usage', None) or usage
    return [text, usage.completion_tokens]


def tool_result(create):
    question = [{'role': 'user', 'content': 'Use get_weather'}]
    message = create(tools=tools, messages=question).choices[0].message
    result = {'role': 'tool', 'tool_call_id': message.tool_calls[0].id, 'content': 'sunny'}
    choice = create(tools=tools, messages=[*question, message, result]).choices[0]
    return [choice.finish_reason, choice.message.content != '']


for name, way in ways.items():
    create = lambda **more: litellm.completion(
        **{**way, 'api_key': KEY, 'max_retries': 0, 'max_tokens': 50, 'messages': SAY, **more}
    )
    call(f'{name} completion', lambda: create().choices[0].message.content)
    call(f'{name} stream', lambda: streamed(create))
    call(f'{name} tools', lambda: create(tools=tools, tool_choice='required').choices[0].finish_reason)
    call(f'{name} tool result', lambda: tool_result(create))
