from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel
from said import BASE_URL, KEY, MODEL, call


class Person(BaseModel):
    name: str
    age: int


@tool
def add(a: int, b: int) -> int:
    "Adds two numbers"
    return a + b


def streamed(llm):
    whole = None
    for part in llm.stream('Say: one two'):
        whole = part if whole is None else whole + part
    return [whole.text, whole.usage_metadata['output_tokens']]


def tool_result(llm):
    question = HumanMessage('Use add')
    bound = llm.bind_tools([add])
    first = bound.invoke([question])
    result = ToolMessage('5', tool_call_id=first.tool_calls[0]['id'])
    last = bound.invoke([question, first, result])
    return [first.tool_calls[0]['name'], len(last.tool_calls), last.text != '']


chat = ChatOpenAI(model=MODEL, api_key=KEY, base_url=f'{BASE_URL}/v1', max_retries=0, stream_usage=True)
messages = ChatAnthropic(model=MODEL, api_key=KEY, base_url=BASE_URL, max_tokens=50, max_retries=0)
for name, llm in [('chat', chat), ('messages', messages)]:
    call(f'{name} invoke', lambda: llm.invoke('Say: one two').text)
    call(f'{name} stream', lambda: streamed(llm))
    call(f'{name} structured', lambda: sorted(llm.with_structured_output(Person).invoke('hi').model_dump()))
    call(f'{name} tools', lambda: [each['name'] for each in llm.bind_tools([add], tool_choice='any').invoke('hi').tool_calls])
    call(f'{name} tool result', lambda: tool_result(llm))
