import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NotAnExposition, readExposition } from '../../src/exporter/exposition.ts'

const values = (text: string) =>
  readExposition(text).map(({ name, labels, value }) => [name, labels, value])

test('counters, gauges and histograms of the text format are read with their family and type', () => {
  const text = `# HELP vllm:num_requests_running Requests now.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="m",engine="0"} 3.0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="m"} 1.2e+06
# TYPE vllm:request_queue_time_seconds histogram
vllm:request_queue_time_seconds_bucket{le="0.3"} 5
vllm:request_queue_time_seconds_bucket{le="+Inf"} 7
vllm:request_queue_time_seconds_sum 1.5
vllm:request_queue_time_seconds_count 7
`
  expect(
    readExposition(text).map(({ name, family, type, value }) => [name, family, type, value]),
  ).toEqual([
    ['vllm:num_requests_running', 'vllm:num_requests_running', 'gauge', 3],
    ['vllm:prompt_tokens_total', 'vllm:prompt_tokens', 'counter', 1_200_000],
    ['vllm:request_queue_time_seconds_bucket', 'vllm:request_queue_time_seconds', 'histogram', 5],
    ['vllm:request_queue_time_seconds_bucket', 'vllm:request_queue_time_seconds', 'histogram', 7],
    ['vllm:request_queue_time_seconds_sum', 'vllm:request_queue_time_seconds', 'histogram', 1.5],
    ['vllm:request_queue_time_seconds_count', 'vllm:request_queue_time_seconds', 'histogram', 7],
  ])
})

test('a family of OpenMetrics has the same name with and without _total', () => {
  const text = '# TYPE requests counter\nrequests_total 4\nrequests_created 1.7e9\n# EOF\n'
  expect(readExposition(text)).toEqual([
    { name: 'requests_total', family: 'requests', type: 'counter', labels: {}, value: 4 },
  ])
})

test('labels hold any text, and are sorted by name', () => {
  expect(values('m{b="}",a="x,y=\\"z\\"\\n\\\\",} 1\n')).toEqual([
    ['m', { a: 'x,y="z"\n\\', b: '}' }, 1],
  ])
})

test('blanks may stand at both ends of a line, before and after labels, and between all other tokens', () => {
  const lines = ['foo{a="b"} 1', 'foo {a="b"} 1', ' \t foo{a="b"} 1 \t', 'foo{a="b"}1']
  lines.push('foo { a = "b" , } 1', 'foo{ a="b"}\t1', 'foo\t{a="b"}\t1\t1700000000000')
  for (const line of lines) expect(values(`${line}\n`)).toEqual([['foo', { a: 'b' }, 1]])
  expect(values('foo { } 1\n')).toEqual([['foo', {}, 1]])
  expect(readExposition(' \t# TYPE foo gauge\n  foo 1\n')).toEqual([
    { name: 'foo', family: 'foo', type: 'gauge', labels: {}, value: 1 },
  ])
})

test('a name in quotes stands within the braces, as Prometheus 3 writes it', () => {
  const text =
    '# TYPE "my.metric" counter\n{"my.metric",a="b"} 1\n{"my.metric"} 2\n{"k","a.b"="c"} 3\n'
  expect(readExposition(text)).toEqual([
    { name: 'my.metric', family: 'my.metric', type: 'counter', labels: { a: 'b' }, value: 1 },
    { name: 'my.metric', family: 'my.metric', type: 'counter', labels: {}, value: 2 },
    { name: 'k', family: 'k', type: 'untyped', labels: { 'a.b': 'c' }, value: 3 },
  ])
})

test('a metric whose own name ends in _created is kept', () => {
  const text =
    '# TYPE pod_created gauge\npod_created 1.7e9\n# TYPE a counter\na_total 4\na_created 1\n'
  expect(readExposition(text).map(({ name }) => name)).toEqual(['pod_created', 'a_total'])
})

test('NaN, infinities, timestamps and exemplars are read', () => {
  const text = 'a NaN\nb +Inf\nc -Inf\nd 5 1700000000000\ne_bucket{le="1"} 2 # {id="x"} 0.5 1.7e9\n'
  expect(values(text).map(([, , value]) => value)).toEqual([NaN, Infinity, -Infinity, 5, 2])
})

test('a metric without a type is untyped, unless its name says counter', () => {
  expect(readExposition('a 1\nb_total 2\n').map(({ type }) => type)).toEqual(['untyped', 'counter'])
})

test.each([
  ['a page of HTML', '<!doctype html>\n<p>1\n', 'no text of metrics'],
  ['JSON', '{"error":"no"}\n', 'no text of metrics'],
  ['JSON in lines', '{\n  "error": "no"\n}\n', 'no text of metrics'],
  ['an empty object', '{}\n', 'no text of metrics'],
  ['labels without a name', 'a 1\n{b="c"} 1\n', '{b='],
  ['two names', 'a{"b"} 1\n', 'a{'],
  ['nothing', '', 'no metric'],
  ['only comments', '# HELP a b\n', 'no metric'],
  ['a cut answer', 'a 1\nb_total 12', 'cut off'],
  ['an open label', 'a{b="c 1\n', 'a{b='],
  ['a sentence', 'a 1\nmetrics are off\n', 'metrics are off'],
  ['a word as value', 'a one\n', 'a one'],
])('%s is refused with its reason', (_what, text, reason) => {
  expect(() => readExposition(text)).toThrow(NotAnExposition)
  expect(() => readExposition(text)).toThrow(reason)
})

test('every label and number that is written is read', () => {
  const label = fc.string().filter((text) => !text.includes('\r'))
  fc.assert(
    fc.property(fc.array(fc.tuple(label, fc.double({ noNaN: true }))), (all) => {
      fc.pre(all.length > 0)
      const escaped = (text: string) =>
        text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
      const word = (value: number) =>
        Object.is(value, -0) ? '-0' : String(value).replace('Infinity', 'Inf')
      const text = all.map(([said, value]) => `m{a="${escaped(said)}"} ${word(value)}\n`).join('')
      expect(values(text)).toEqual(all.map(([said, value]) => ['m', { a: said }, value]))
    }),
  )
})

test('five megabytes are read', { tags: 'whole' }, () => {
  const text = Array.from(
    { length: 60_000 },
    (_, at) => `m{model="some-long-name",at="${at}"} ${at}\n`,
  )
  expect(readExposition(text.join('')).length).toBe(60_000)
})
