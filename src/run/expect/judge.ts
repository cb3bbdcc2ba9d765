import type { Lack } from '../../attempt/outcome.ts'
import type { AnswerCheck, AnswerToCheck } from '../../scenario/define.ts'
import type { Expectation } from '../../scenario/steps.ts'
import { kindOf } from '../errors.ts'

/** How an answer was judged: the column `answer` of its row, and why it is not correct. */
export type AnswerVerdict =
  | { readonly answer: 'correct' }
  | { readonly answer: Lack | 'unchecked'; readonly why: string }

/** What is wrong with a value; null for nothing. */
export type SchemaCheck = (value: unknown) => string | null

/** An expectation with its schema compiled and its function loaded. */
export type ReadyExpectation =
  | Extract<Expectation, { kind: 'contains' | 'exact' | 'tokens' }>
  | { readonly kind: 'matches'; readonly pattern: RegExp }
  | { readonly kind: 'json'; readonly holds: SchemaCheck }
  | { readonly kind: 'tool'; readonly name: string; readonly holds: SchemaCheck | null }
  | { readonly kind: 'check'; readonly judge: AnswerCheck }

export const correct: AnswerVerdict = { answer: 'correct' }
export const unchecked = (why: string): AnswerVerdict => ({ answer: 'unchecked', why })

/** Judges an answer by what its step expects: the first expectation that fails names it, or else the first that nobody can check. */
export function judgeAnswer(
  answer: AnswerToCheck,
  expectations: readonly ReadyExpectation[],
): AnswerVerdict {
  let open: AnswerVerdict | null = null
  for (const expectation of expectations) {
    const verdict = judgeOne(answer, expectation)
    if (verdict === null) continue
    if (verdict.answer !== 'unchecked') return verdict
    open ??= verdict
  }
  return open ?? correct
}

/** @returns null if the expectation holds */
function judgeOne(answer: AnswerToCheck, expected: ReadyExpectation): AnswerVerdict | null {
  const { text, tools, completionTokens } = answer
  const wrong = (why: string): AnswerVerdict => ({ answer: expected.kind, why })
  switch (expected.kind) {
    case 'exact':
      return text === expected.text ? null : wrong(`is not ${quoted(expected.text)}`)
    case 'contains': {
      const missing = expected.texts.find((each) => !text.includes(each))
      return missing === undefined ? null : wrong(`does not contain ${quoted(missing)}`)
    }
    case 'matches':
      return expected.pattern.test(text) ? null : wrong(`does not match ${expected.pattern.source}`)
    case 'tokens':
      if (completionTokens === null) return unchecked('the service reports no completion tokens')
      return completionTokens >= expected.least
        ? null
        : wrong(`has ${completionTokens} tokens, not ${expected.least} or more`)
    case 'json': {
      const issue = jsonIssue(text, expected.holds)
      return issue === null ? null : wrong(issue)
    }
    case 'tool': {
      const calls = tools.filter(({ name }) => name === expected.name)
      if (calls.length === 0) return wrong(`does not call ${expected.name}`)
      const { holds } = expected
      if (holds === null) return null
      const issues = calls.map((call) => jsonIssue(call.arguments || '{}', holds))
      return issues.includes(null) ? null : wrong(`arguments of ${expected.name}: ${issues[0]}`)
    }
    case 'check':
      return judgedByFunction(answer, expected.judge)
  }
}

function jsonIssue(text: string, holds: SchemaCheck): string | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  return holds(value)
}

/** A function that fails says nothing of the answer, unless it is an assertion that failed. */
function judgedByFunction(answer: AnswerToCheck, judge: AnswerCheck): AnswerVerdict | null {
  let said: unknown
  try {
    said = judge(answer)
  } catch (error) {
    const { code, message } = Object(error) as {
      readonly code?: unknown
      readonly message?: unknown
    }
    // An object without a message may have no text at all.
    const why = String(message ?? (Object(error) === error ? kindOf(error) : error))
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return code === 'ERR_ASSERTION'
      ? { answer: 'check', why }
      : unchecked(`the function of check threw: ${why}`)
  }
  if (said === true) return null
  if (said === false) return { answer: 'check', why: 'the function of check says no' }
  if (typeof said === 'string' && said !== '') return { answer: 'check', why: said }
  return unchecked(
    `the function of check returned ${said === '' ? 'an empty text' : kindOf(said)}, not true, false or why it is wrong`,
  )
}

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
