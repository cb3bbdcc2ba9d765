import { expect, test } from 'vitest'
import type { ScenarioError } from '../../src/scenario/issues.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

/** The issues of a scenario with one step and one phase, without their path. */
function issuesOf(phase: string, { step = '', more = '' } = {}): readonly string[] {
  const text = `name: n
question: q
model: svc-k2
steps:
  chat: { endpoint: chat${step} }
phases:
  - { name: steady, ${phase} }
${more}`
  try {
    parseScenario(text, 'a.yaml')
  } catch (error) {
    return (error as ScenarioError).message.split('\n').slice(1)
  }
  return []
}

const plain = 'load: poisson, rate: 5/s, duration: 1s'

test('include_usage is only for chat streams', () => {
  const issue =
    '  line 5, steps.chat.include_usage: include_usage requests the token counts of a chat stream: it needs endpoint: chat and stream: true.'
  expect(issuesOf(plain, { step: ', include_usage: true' })).toEqual([issue])
  expect(issuesOf(plain, { step: ', stream: true, include_usage: true' })).toEqual([])
  expect(issuesOf(plain, { step: ', include_usage: false' })).toEqual([])
})

test('a range whose maximum is below its minimum is an issue', () => {
  expect(
    issuesOf('load: concurrency, users: 2, think: { min: 5s, max: 900ms }, duration: 1s', {
      step: ', prompt: { synthetic: { uniform: { min: 20, max: 10 } } }',
    }),
  ).toEqual([
    '  line 5, steps.chat.prompt.synthetic.uniform.max: expected max to be at least min, 20; got 10.',
    '  line 7, phases[0].think.max: expected max to be at least min, "5s"; got "900ms".',
  ])
  expect(issuesOf('load: sweep, start: 100/s, max: 600/min, trial: 1s')).toEqual([
    '  line 7, phases[0].max: expected max to be at least start, "100/s"; got "600/min".',
  ])
  expect(issuesOf('load: sweep, start: 10/s, max: 600/min, trial: 1s')).toEqual([])
})

test('every range is checked, also of the turns of a task', () => {
  const more = (turn: string) =>
    `tasks: { agent: { turns: [{ name: a, step: chat }, { name: b, step: chat, after: a, ${turn} }] } }`
  const told = (turn: string) => issuesOf(plain, { more: more(turn) })
  expect(told('repeat: { min: 5, max: 2 }')).toEqual([
    '  line 8, tasks.agent.turns[1].repeat.max: expected max to be at least min, 5; got 2.',
  ])
  expect(told('delay: { min: 2s, max: 900ms }')).toEqual([
    '  line 8, tasks.agent.turns[1].delay.max: expected max to be at least min, "2s"; got "900ms".',
  ])
  expect(told('repeat: { min: 2, max: 5 }')).toEqual([])
})

test('a search that no number of requests could end is an issue', () => {
  const told = (fields: string) => issuesOf(`load: sweep, max: 10/s, ${fields}`)
  expect(told('goodput: 100%')).toEqual([
    '  line 7, phases[0].goodput: expected a share below 100%, such as 99%, because no number of requests proves 100%; got "100%".',
  ])
  expect(told('precision: 0%')).toEqual([
    '  line 7, phases[0].precision: expected a precision above 0; got "0%".',
  ])
  expect(told('goodput: 99%, precision: 5%')).toEqual([])
})

test('a phase that would send nothing is an issue', () => {
  const zero = '  line 7, phases[0].rate: a rate of 0 sends nothing; set a higher one.'
  expect(issuesOf('load: poisson, rate: 0/s, duration: 1s')).toEqual([zero])
  expect(issuesOf('load: constant, rate: { from: 0/s, to: 0/min }, duration: 1s')).toEqual([zero])
  expect(issuesOf('load: constant, rate: { from: 0/s, to: 5/s }, duration: 1s')).toEqual([])
  const day = (weight: number) =>
    issuesOf(`load: day, rate: 5/s, duration: 24s, weights: [${Array(24).fill(weight).join(', ')}]`)
  expect(day(0)).toEqual(['  line 7, phases[0].weights: weights that are all 0 send nothing.'])
  expect(day(1)).toEqual([])
  const stages = (to: string) =>
    issuesOf(
      `load: stages, stages: [{ rate: 0/s, duration: 1s }, { rate: { from: 0/s, to: ${to} }, duration: 1s }]`,
    )
  expect(stages('0/min')).toEqual([
    '  line 7, phases[0].stages: stages that are all 0 send nothing.',
  ])
  expect(stages('1/min')).toEqual([])
  expect(issuesOf('load: poisson, rate: 5/s, duration: 0s')).toEqual([
    '  line 7, phases[0].duration: expected a duration above 0; got "0s".',
  ])
})

test('a request that cannot be sent as written is an issue of its line', () => {
  expect(issuesOf(plain, { step: ", headers: { Host: x, 'a b': y, x-fine: '1' }" })).toEqual([
    '  line 5, steps.chat.headers.Host: header Host is set by the transport from the base URL and the body; leave it out.',
    '  line 5, steps.chat.headers.a b: header "a b": a name is letters, digits and -, a value printable ASCII on one line.',
  ])
  expect(
    issuesOf(plain, { step: ' }\n  list: { endpoint: models, wrong: malformed-json' }),
  ).toEqual([
    '  line 6, steps.list.wrong: malformed-json needs a request with a body; use it with chat or messages.',
  ])
})

test('one mistake is reported once, without its consequences', () => {
  expect(issuesOf(plain, { step: ' }\n  other: { endpoint: chatt, stream: true' })).toEqual([
    '  line 6, steps.other.endpoint: expected one of chat, messages, responses, embeddings, models, credits, other; got "chatt".',
  ])
  expect(issuesOf(plain, { more: 'ca_file: []' })).toEqual([
    '  line 8, ca_file: expected a path of a PEM file; got [].',
  ])
})

test('gaps of streams take no filter, because they have no rows', () => {
  const more = "thresholds: ['chat.itl{model=a}.p95 < 1s']"
  expect(issuesOf(plain, { step: ', stream: true', more })).toEqual([
    '  line 8, thresholds[0]: gaps of streams have no rows of their own, so itl takes no filter; name a step.',
  ])
})

test('a key in a scenario is never shown', () => {
  for (const keys of [
    'keys: { k: sk-secret }',
    'keys: sk-secret',
    'keys: { k: { env: [sk-secret] } }',
  ]) {
    const issues = issuesOf(plain, { more: keys })
    expect(issues.length).toBe(1)
    expect(issues.join()).toContain('which is not shown here')
    expect(issues.join()).not.toContain('sk-secret')
  }
})

test('a header with a key is an issue, and its value is not shown', () => {
  const told = issuesOf(plain, {
    step: ", headers: { Authorization: 'Bearer sk-secret', x-goog-api-key: sk-secret, x-keep: '1' }",
  })
  expect(told).toEqual([
    '  line 5, steps.chat.headers.Authorization: header Authorization carries a key, which must not be in a scenario; name its source under keys.',
    '  line 5, steps.chat.headers.x-goog-api-key: header x-goog-api-key carries a key, which must not be in a scenario; name its source under keys.',
  ])
})

test('the header that ties a task together is one that a step may send', () => {
  const told = (affinity: string) =>
    issuesOf(plain, {
      more: `tasks: { talk: { turns: [{ name: a, step: chat }], affinity: ${affinity} } }`,
    })
  expect(told('{ header: x-session, }')).toEqual([])
  expect(told('{ header: session id }')).toEqual([
    '  line 8, tasks.talk.affinity.header: header "session id": a name is letters, digits and -, a value printable ASCII on one line.',
  ])
  expect(told('{ header: Content-Length }')).toHaveLength(1)
  for (const affinity of ['{ header: Authorization }', '{ repeat: X-Access-Token }']) {
    expect(told(affinity)).toEqual([expect.stringContaining('carries a key')])
  }
})

test('what takes the place of a conversation is not longer than its limit', () => {
  const told = (limit: number, compact: number) =>
    issuesOf(plain, {
      more: `tasks: { talk: { turns: [{ name: a, step: chat }], context: { limit: ${limit}, at_limit: { compact: ${compact} } } } }`,
    })
  expect(told(1000, 1000)).toEqual([])
  expect(told(1000, 1001)).toEqual([
    '  line 8, tasks.talk.context.at_limit.compact: expected at most the limit of 1000: a longer text takes the place of no conversation.',
  ])
})

test('a base URL with more than host, port and path is an issue, shown without the rest', () => {
  const expected =
    'expected an http or https URL without user, password, query or fragment: none of them would be sent'
  for (const [url, shown] of [
    ['http://me:word@a.test/v1', 'http://…@a.test/v1'],
    ['https://a.test/?key=word', 'https://a.test/?…'],
    ['http://a.test/#word', 'http://a.test/#…'],
    ['a.test:80', 'a.test:80'],
  ]) {
    expect(issuesOf(plain, { more: `base_url: '${url}'` })).toEqual([
      `  line 8, base_url: ${expected}; got "${shown}".`,
    ])
  }
  expect(issuesOf(plain, { more: 'base_url: https://a.test:8443/base' })).toEqual([])
})

test('an abort point that a plain answer never reaches is an issue', () => {
  const told = (point: string, more = '') =>
    issuesOf(plain, { step: `, abort: ${point}${more}` }).map((line) => line.slice(2))
  const issue = (point: string) => [
    `line 5, steps.chat.abort: ${point} is a point of a stream, but this step does not stream; give it stream: true.`,
  ]
  expect(told('first-event')).toEqual(issue('first-event'))
  expect(told('before-done')).toEqual(issue('before-done'))
  expect(told('{ events: 5 }')).toEqual(issue('events'))
  for (const point of ['before-headers', 'after-headers', '{ after: 1s }']) {
    expect(told(point)).toEqual([])
  }
  expect(told('first-event', ', stream: true')).toEqual([])
  expect(told('first-event', ', body: { stream: true }')).toEqual([])
})

test('a deadline of 0 and a rate above a hundred requests per microsecond are issues', () => {
  expect(issuesOf(plain, { more: 'timeouts: { total: 0s, idle: 1ms }' })).toEqual([
    '  line 8, timeouts.total: expected a timeout above 0; got "0s".',
  ])
  const fast = (at: string, observed: string) => [
    `  line 7, phases[0].${at}: expected at most 100000000/s, because times are whole microseconds; got "${observed}".`,
  ]
  expect(issuesOf('load: poisson, rate: 200000000/s, duration: 1s')).toEqual(
    fast('rate', '200000000/s'),
  )
  expect(issuesOf('load: constant, rate: { from: 1/s, to: 900000000/s }, duration: 1s')).toEqual(
    fast('rate.to', '900000000/s'),
  )
  expect(issuesOf('load: stages, stages: [{ rate: 900000000/s, duration: 1s }]')).toEqual(
    fast('stages[0].rate', '900000000/s'),
  )
  expect(issuesOf('load: sweep, start: 1/s, max: 900000000/s, trial: 1s')).toEqual(
    fast('max', '900000000/s'),
  )
  expect(issuesOf('load: poisson, rate: 100000000/s, duration: 1s')).toEqual([])
})
