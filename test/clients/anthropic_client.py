import anthropic
from said import BASE_URL, HELLO, KEY, MODEL, SAY, call

client = anthropic.Anthropic(api_key=KEY, base_url=BASE_URL, max_retries=0, timeout=20)
create = lambda **more: client.messages.create(
    **{'model': MODEL, 'max_tokens': 50, 'messages': SAY, **more}
)
schema = {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city']}
tools = [{'name': 'get_weather', 'description': 'w', 'input_schema': schema}]
must = {'tools': tools, 'tool_choice': {'type': 'any'}}


def streamed(**more):
    with client.messages.stream(model=MODEL, max_tokens=50, messages=SAY, **more) as stream:
        text = ''.join(stream.text_stream)
        final = stream.get_final_message()
    return [text, final.stop_reason, final.usage.output_tokens]


def tool_stream():
    with client.messages.stream(model=MODEL, max_tokens=50, messages=SAY, **must) as stream:
        return list(stream.get_final_message().content[0].input)


def tool_result():
    question = [{'role': 'user', 'content': 'Use get_weather'}]
    content = create(tools=tools, messages=question).content
    result = {'type': 'tool_result', 'tool_use_id': content[0].id, 'content': 'sunny'}
    turns = [{'role': 'assistant', 'content': content}, {'role': 'user', 'content': [result]}]
    final = create(tools=tools, messages=[*question, *turns])
    return [final.stop_reason, [block.type for block in final.content]]


system = [{'type': 'text', 'text': 'Be brief.', 'cache_control': {'type': 'ephemeral'}}]
source = {'type': 'base64', 'media_type': 'image/png', 'data': 'iVBORw0KGgo='}
thinking = {'type': 'enabled', 'budget_tokens': 1024}
call('create', lambda: create().content[0].text)
call('stream', streamed)
call('system blocks', lambda: create(system=system).stop_reason)
call('tools', lambda: [create(**must).stop_reason, list(create(**must).content[0].input)])
call('tools streamed', tool_stream)
call('tool result', tool_result)
call('thinking', lambda: [block.type for block in create(max_tokens=2000, thinking=thinking).content])
call('models', lambda: [model.id for model in client.models.list()])
call('bearer', lambda: anthropic.Anthropic(auth_token=KEY, api_key=None, base_url=BASE_URL, max_retries=0).messages.create(model=MODEL, max_tokens=50, messages=SAY).content[0].text)
call('image', lambda: create(messages=[{'role': 'user', 'content': [{'type': 'image', 'source': source}]}]).stop_reason)
call('count_tokens', lambda: client.messages.count_tokens(model=MODEL, messages=HELLO).input_tokens)
call('bad key', lambda: anthropic.Anthropic(api_key='sk-bad', base_url=BASE_URL, max_retries=0).models.list())
