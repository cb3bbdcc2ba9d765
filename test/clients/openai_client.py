import json

import openai
from pydantic import BaseModel
from said import BASE_URL, HELLO, KEY, MODEL, SAY, call

client = openai.OpenAI(api_key=KEY, base_url=f'{BASE_URL}/v1', max_retries=0, timeout=20)
create = lambda **more: client.chat.completions.create(**{'model': MODEL, 'messages': SAY, **more})
function = {
    'name': 'get_weather',
    'parameters': {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city']},
}
tools = [{'type': 'function', 'function': function}]


class Person(BaseModel):
    name: str
    age: int


def streamed(**more):
    text, finish, usage = '', None, None
    for chunk in create(stream=True, stream_options={'include_usage': True}, **more):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ''
            finish = choice.finish_reason or finish
    return [text, finish, usage.completion_tokens]


def helper():
    with client.chat.completions.stream(model=MODEL, messages=SAY) as stream:
        for _ in stream:
            pass
        return stream.get_final_completion().choices[0].message.content


def tool_stream():
    parts = ''
    for chunk in create(tools=tools, tool_choice='required', stream=True):
        for each in chunk.choices[0].delta.tool_calls or []:
            parts += each.function.arguments
    return list(json.loads(parts))


def tool_result():
    question = [{'role': 'user', 'content': 'Use get_weather'}]
    message = create(tools=tools, messages=question).choices[0].message
    result = {'role': 'tool', 'tool_call_id': message.tool_calls[0].id, 'content': 'sunny'}
    choice = create(tools=tools, messages=[*question, message, result]).choices[0]
    return [choice.finish_reason, choice.message.content != '']


image = {'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,iVBORw0KGgo='}}
call('models', lambda: [model.id for model in client.models.list()])
call('chat', lambda: create().choices[0].message.content)
call('stream', streamed)
call('stream helper', helper)
call('max_completion_tokens', lambda: create(max_completion_tokens=1).usage.completion_tokens)
call('n', lambda: len(create(n=2).choices))
call('stop', lambda: create(stop=['two']).choices[0].message.content)
call('parts', lambda: create(messages=[{'role': 'user', 'content': [{'type': 'text', 'text': 'Say: yes'}]}]).choices[0].message.content)
call('tools', lambda: create(tools=tools, tool_choice='required').choices[0].finish_reason)
call('tools streamed', tool_stream)
call('tool result', tool_result)
call('parse', lambda: sorted(client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Person).choices[0].message.parsed.model_dump()))
call('json_object', lambda: json.loads(create(response_format={'type': 'json_object'}).choices[0].message.content))
call('image', lambda: create(messages=[{'role': 'user', 'content': [image]}]).usage.prompt_tokens)
call('developer', lambda: create(messages=[{'role': 'developer', 'content': 'x'}, *SAY]).choices[0].message.content)
call('model', lambda: client.models.retrieve(MODEL).id)
call('logprobs', lambda: create(logprobs=True).choices[0].logprobs)
call('responses', lambda: client.responses.create(model=MODEL, input='hi').output_text)
call('bad key', lambda: openai.OpenAI(api_key='sk-bad', base_url=f'{BASE_URL}/v1', max_retries=0).models.list())
call('bad model', lambda: create(model='nope'))
