import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseDurations, parseLengths } from '../../src/service/distribution.ts'
import { defaultProfile, parseProfile, profileQuestions } from '../../src/service/profile.ts'
import { readProfile } from '../../src/service/profile-reading.ts'
import { UserError } from '../../src/user/user-error.ts'

/** A file of answers, removed after the test. */
function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-profile-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'profile.yaml')
  writeFileSync(path, text)
  return path
}

test('an unanswered question has its default answer', () => {
  expect(parseProfile({}, 'profile')).toEqual(defaultProfile)
  const flags = ['reset=epoch-s', 'counts.rate=true', 'precedence=[key,credits,rate,request]']
  expect(readProfile(undefined, flags)).toEqual({
    ...defaultProfile,
    reset: 'epoch-s',
    counts: { ...defaultProfile.counts, rate: true },
    precedence: ['key', 'credits', 'rate', 'request'],
  })
})

test('an order is accepted as the list of questions prints it, and in brackets', () => {
  for (const order of ['key, credits, request, rate', '[key,credits,request,rate]']) {
    const { precedence } = readProfile(undefined, [`precedence=${order}`])
    expect(precedence).toEqual(['key', 'credits', 'request', 'rate'])
  }
  const printed = questionNamed('precedence').standard
  expect(readProfile(undefined, [`precedence=${printed}`])).toEqual(defaultProfile)
})

test('a flag overrides the file, one question at a time', () => {
  const path = file('reset: epoch-ms\ncounts: { request: true, rate: true }\nmaxN: 4\n')
  expect(readProfile(path, ['counts.rate=false', 'maxN=16'])).toEqual({
    ...defaultProfile,
    reset: 'epoch-ms',
    counts: { ...defaultProfile.counts, request: true, rate: false },
    maxN: 16,
  })
  expect(readProfile(file(''), [])).toEqual(defaultProfile)
})

test('every wrong answer is reported at once: its place, the expected and the given value', () => {
  const path = file(
    'reset: minutes\nlimiter: leaky\ncounts:\n  rate: maybe\n  rat: true\nprecedence: [key]\nmaxN: 3\nmodelNotFound: 410\n',
  )
  expect(() => readProfile(path, ['window=failed'])).toThrow(
    new UserError(
      'service',
      [
        `${path}: not a profile of the service`,
        `  line 1, reset: expected ${questionNamed('reset').answers}; got "minutes"`,
        '  line 6, precedence: expected an order of key, rate, request, credits; got ["key"]',
        '  line 4, counts.rate: expected true or false; got "maybe"',
        '  line 5, counts.rat: no such question',
        '  line 8, modelNotFound: expected 400 | 404; got 410',
        '  line 7, maxN: expected 4 to 128; got 3',
        '  line 2, limiter: no such question',
        'assay serve --list-profile names every question and its answers.',
      ].join('\n'),
    ),
  )
})

test('a malformed group is one fault, not one for each question', () => {
  expect(() => readProfile(file('counts: yes\n'), [])).toThrow(
    /service\n {2}line 1, counts: expected true or false for each of request, credits, rate, models, usage; got "yes"\nassay/,
  )
})

test.each([
  ['- a list', 'expected "question: answer" lines'],
  ['reset: [delta-s', 'line 1: expected YAML: Flow sequence'],
  ['reset: delta-s\nreset: epoch-s', 'line 2: expected YAML: Map keys must be unique'],
  ['__proto__: x', 'line 1, __proto__: no such question'],
  ['precedence: [rate, key, request, credits]', 'line 1, precedence: expected key first'],
])('a file with %j is refused with an explanation', (text, words) => {
  expect(() => readProfile(file(text), [])).toThrow(words)
})

test.each([
  ['reset', '--set: expected question=answer, such as reset=epoch-s; got "reset"'],
  ['reset=*x', '--set: expected question=answer, such as reset=epoch-s; got "reset=*x"'],
  ['reset=[', '--set: expected question=answer, such as reset=epoch-s; got "reset=["'],
  ['reset=weeks', '--set: not a profile of the service\n  reset: expected'],
  ['nosuch=1', '  nosuch: no such question'],
  ['algorithn=gcra', '  algorithn: no such question; did you mean algorithm?'],
  ['__proto__=x', '  __proto__: no such question'],
  ['__proto__.reset=epoch-s', '  __proto__: no such question'],
  ['counts.__proto__=true', '  counts.__proto__: no such question'],
  ['constructor=x', '  constructor: no such question'],
  ['precedence=key, rate', '  precedence: expected an order of key'],
])('a flag that is %s is refused in words, as a flag', (flag, words) => {
  expect(() => readProfile(file('reset: epoch-s'), [flag])).toThrow(words)
})

test('a missing file is named', () => {
  expect(() => readProfile('none.yaml', [])).toThrow(
    '--profile: expected a readable YAML or JSON file; got "none.yaml"',
  )
})

function questionNamed(asked: string) {
  return profileQuestions().find(({ name }) => name === asked)!
}

test('every question has a description, its answers and a default', () => {
  const questions = profileQuestions()
  expect(questions.map(({ name }) => name).sort()).toEqual(Object.keys(defaultProfile).sort())
  for (const { description, answers, standard } of questions) {
    expect(description).toMatch(/G-\d\d|§/)
    expect(answers).not.toBe('')
    expect(standard).not.toBe('')
  }
})

test('times and lengths are parsed with their distributions, or refused with an explanation', () => {
  expect(parseDurations('20ms', '--itl')).toEqual({ kind: 'constant', value: 20_000 })
  expect(parseDurations('5', '--itl')).toEqual({ kind: 'constant', value: 5_000 })
  expect(parseDurations('uniform(10ms, 0.5s)', '--itl')).toEqual({
    kind: 'uniform',
    min: 10_000,
    max: 500_000,
  })
  expect(parseDurations('lognormal(300ms,0.4)', '--ttft')).toEqual({
    kind: 'lognormal',
    median: 300_000,
    sigma: 0.4,
  })
  expect(parseLengths('exponential(40)', '--tokens')).toEqual({ kind: 'exponential', mean: 40 })
  for (const text of [
    'soon',
    'uniform(5ms)',
    'uniform(9,1)',
    'gamma(1,2)',
    'lognormal(1ms,x)',
    '',
  ]) {
    expect(() => parseDurations(text, '--ttft')).toThrow(`got "${text}"`)
  }
})
