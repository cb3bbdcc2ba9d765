import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseDurations, parseLengths } from '../../src/service/distribution.ts'
import {
  answersOf,
  defaultProfile,
  parseProfile,
  profileQuestions,
  readProfile,
} from '../../src/service/profile.ts'

test('what is not answered has the answer of the default', () => {
  expect(parseProfile({}, 'profile')).toEqual(defaultProfile)
  const answers = answersOf([
    'reset=epoch-s',
    'counts.rate=true',
    'precedence=[key,credits,rate,request]',
  ])
  expect(parseProfile(answers, '--set')).toEqual({
    ...defaultProfile,
    reset: 'epoch-s',
    counts: { ...defaultProfile.counts, rate: true },
    precedence: ['key', 'credits', 'rate', 'request'],
  })
})

test('every wrong answer is named at once, with the file and what was expected', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-profile-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'profile.yaml')
  writeFileSync(path, 'reset: minutes\nlimiter: leaky\ncounts: {rate: maybe}\nprecedence: [key]\n')
  const parse = () => parseProfile(readProfile(path), path)
  for (const words of [
    path,
    'reset: Invalid option: expected one of "delta-s"',
    'Unrecognized key: "limiter"',
    'counts.rate: Invalid input: expected boolean',
    'precedence: Too small',
    '--list-profile',
  ]) {
    expect(parse).toThrow(words)
  }
  writeFileSync(path, '- a list')
  expect(parse).toThrow('expected "question: answer" lines')
  expect(() => readProfile(join(folder, 'none.yaml'))).toThrow('expected a readable YAML or JSON')
  expect(() => answersOf(['reset'])).toThrow('expected question=answer; got "reset"')
})

test('every question says what it asks, which answers there are and which is standard', () => {
  const questions = profileQuestions()
  expect(questions.map(({ name }) => name).sort()).toEqual(Object.keys(defaultProfile).sort())
  for (const { says, answers, standard } of questions) {
    expect(says).toMatch(/\(?G-\d\d|G-\d\d\)/)
    expect(answers).not.toBe('')
    expect(standard).not.toBe('')
  }
})

test('times and lengths are read with their shapes, or refused in words', () => {
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
