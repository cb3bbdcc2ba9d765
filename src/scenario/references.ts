import {
  generating,
  headerIssue,
  isPromised,
  plainReads,
  promised,
  prompted,
  takesPrompt,
  wrongNeedsBody,
  wrongRequests,
} from '../contract/request.ts'
import { plainText } from '../user/hostile.ts'
import { type Mapping, mappingOf } from '../user/mapping.ts'
import { type Found, type Path, unknownName, unknownNames } from './issues.ts'
import { entries, items } from './loose.ts'
import { phaseIssues } from './phase-issues.ts'
import { prefixIssues } from './prefix-issues.ts'
import { targetIssues } from './target-issues.ts'
import { taskIssues } from './task-issues.ts'
import { parseThreshold, taskMetrics } from './threshold.ts'

/**
 * Issues between parts of a scenario. It reads the scenario as written, even if it is incomplete, so that
 * issues of shape do not hide these.
 */
export function crossIssues(data: unknown): readonly Found[] {
  const scenario = mappingOf(data)
  return [
    ...nameIssues(data, []),
    ...hostileNames(scenario),
    ...stepIssues(scenario),
    ...taskIssues(scenario),
    ...targetIssues(scenario),
    ...phaseIssues(scenario),
    ...keyIssues(scenario),
    ...identityIssues(scenario),
    ...thresholdIssues(scenario),
  ]
}

/** Objects of JavaScript lose a member of this name without a word. */
function nameIssues(value: unknown, path: Path): readonly Found[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => {
    const place = [...path, Array.isArray(value) ? Number(name) : name]
    return name === '__proto__'
      ? [{ path: place, message: '__proto__ cannot be a name; use another.' }]
      : nameIssues(item, place)
  })
}

/** Names are shown while a run lasts, and on pages. */
function hostileNames(scenario: Mapping): readonly Found[] {
  const names: readonly (readonly [Path, unknown])[] = [
    ...(['steps', 'tasks', 'keys'] as const).flatMap((list) =>
      entries(scenario[list]).map(([name]) => [[list, name], name] as const),
    ),
    ...entries(scenario.keys).map(
      ([name, { account }]) => [['keys', name, 'account'], account] as const,
    ),
    ...items(scenario.phases).map(
      (phase, at) => [['phases', at, 'name'], mappingOf(phase).name] as const,
    ),
  ]
  return names.flatMap(([path, name]) =>
    typeof name === 'string' && plainText(name) !== name
      ? [{ path, message: 'expected a name without control characters and invisible marks.' }]
      : [],
  )
}

/** A certificate and its key need each other. */
function identityIssues(scenario: Mapping): readonly Found[] {
  const pair = ['cert_file', 'key_file'] as const
  const [given, other] = scenario.cert_file === undefined ? [pair[1], pair[0]] : pair
  return scenario[given] === undefined || scenario[other] !== undefined
    ? []
    : [{ path: [given], message: `${given} also needs ${other}: a certificate and its key.` }]
}

function stepIssues(scenario: Mapping): readonly Found[] {
  const found: Found[] = []
  const keyNames = Object.keys(mappingOf(scenario.keys))
  const steps = entries(scenario.steps)
  if ('steps' in scenario && steps.length === 0) {
    found.push({ path: ['steps'], message: 'expected at least one step; got none.' })
  }
  for (const [name, step] of steps) {
    const path = ['steps', name]
    for (const each of unknownNames(step.keys, keyNames, 'key', [...path, 'keys'])) found.push(each)
    if (takesPrompt(step.endpoint) && step.model === undefined && scenario.model === undefined) {
      found.push({
        path,
        message: `${String(step.endpoint)} needs a model; name one here or at the top (model: null sends none).`,
      })
    }
    for (const each of lengthIssues(scenario, name, step, path)) found.push(each)
    if (
      step.endpoint === 'messages' &&
      step.max_tokens === undefined &&
      step.output_tokens === undefined
    ) {
      found.push({
        path,
        message: 'messages needs max_tokens (max_tokens: null sends none on purpose).',
      })
    }
    if (step.endpoint === 'other' && step.path === undefined && step.wrong !== 'unknown-path') {
      found.push({
        path,
        message: 'the endpoint other needs a path, such as path: /v1/moderations.',
      })
    }
    for (const field of [
      'stream',
      'session',
      'max_tokens',
      'output_tokens',
      'system',
      'prompt',
    ] as const) {
      const without =
        plain.has(step.endpoint) || (step.endpoint === 'embeddings' && field !== 'prompt')
      if (without && step[field]) {
        found.push({
          path: [...path, field],
          message: `${field} is for ${(field === 'prompt' ? prompted : generating).join(', ')}; this step requests ${String(step.endpoint)}.`,
        })
      }
    }
    if (step.include_usage === true && !(step.endpoint === 'chat' && step.stream === true)) {
      found.push({
        path: [...path, 'include_usage'],
        message:
          'include_usage requests the token counts of a chat stream: it needs endpoint: chat and stream: true.',
      })
    }
    for (const each of prefixIssues(mappingOf(step.prompt), [...path, 'prompt'])) found.push(each)
    for (const each of expectIssues(step, [...path, 'expect'])) found.push(each)
    for (const each of headerIssues(step.headers, [...path, 'headers'])) found.push(each)
    for (const each of abortIssues(step, [...path, 'abort'])) found.push(each)
    const wrong = wrongRequests.find((known) => known === step.wrong)
    if (wrong !== undefined && wrongNeedsBody(wrong) && !isPromised(step.endpoint)) {
      found.push({
        path: [...path, 'wrong'],
        message: `${wrong} needs a request with a body; use it with ${promised.join(' or ')}.`,
      })
    }
    if (step.wrong !== undefined && step.session !== undefined) {
      found.push({
        path: [...path, 'session'],
        message: 'a request that is wrong on purpose has no response to continue from.',
      })
    }
  }
  return found
}

/** A length has one source: the step, or the trace of a replay. */
function lengthIssues(
  scenario: Mapping,
  name: string,
  step: Mapping,
  path: Path,
): readonly Found[] {
  const { output_tokens: asked, max_tokens: most, enforce_output: enforced } = step
  const issue = (field: string, message: string) => [{ path: [...path, field], message }]
  if (asked === undefined) {
    return enforced === undefined
      ? []
      : issue(
          'enforce_output',
          'enforce_output is of output_tokens, which this step does not have.',
        )
  }
  if (most !== undefined && most !== null)
    return issue('max_tokens', 'expected one of output_tokens and max_tokens; got both.')
  const draws = items(scenario.phases).filter((phase) => {
    const named = items(mappingOf(phase).steps)
    return named.length === 0 ? step.weight !== 0 : named.includes(name)
  })
  const isReplayed = (phase: unknown) => mappingOf(phase).load === 'replay'
  if (asked === 'trace' && !draws.every(isReplayed))
    return issue(
      'output_tokens',
      'output_tokens: trace needs phases with load: replay; write a number for the others.',
    )
  if (asked !== 'trace' && draws.some(isReplayed))
    return issue(
      'output_tokens',
      'a replay has the lengths of its trace; write output_tokens: trace.',
    )
  return []
}

/** Only an answer that may succeed can be correct. */
function expectIssues(step: Mapping, path: Path): readonly Found[] {
  if (step.expect === undefined) return []
  const { matches } = mappingOf(step.expect)
  const found: Found[] = []
  if (Object.keys(mappingOf(step.expect)).length === 0) {
    found.push({ path, message: 'expected something that the answer must hold; got nothing.' })
  }
  if (step.endpoint !== 'other' && !(generating as readonly unknown[]).includes(step.endpoint)) {
    found.push({
      path,
      message: `expect is for ${[...generating, 'other'].join(', ')}; this step requests ${String(step.endpoint)}.`,
    })
  }
  for (const field of ['wrong', 'abort'] as const) {
    if (step[field] === undefined) continue
    found.push({ path, message: `a step with ${field} has no whole answer; leave out expect.` })
  }
  if (typeof matches === 'string') {
    try {
      new RegExp(matches, 'u')
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      found.push({ path: [...path, 'matches'], message: `expected a regular expression; ${why}.` })
    }
  }
  return found
}

const plain: ReadonlySet<unknown> = new Set(plainReads)

function headerIssues(headers: unknown, path: Path): readonly Found[] {
  return Object.entries(mappingOf(headers)).flatMap(([name, value]) => {
    const issue = keyHeader.test(name)
      ? `header ${name} carries a key, which must not be in a scenario; name its source under keys`
      : headerIssue(name, String(value))
    return issue === null ? [] : [{ path: [...path, name], message: `${issue}.` }]
  })
}

/** Headers are stored as evidence, but a key must not be. */
const keyHeader = /(?:^|-)(?:authorization|cookie|api-?key|(?:auth|access)-token)$/i

/** A plain response has no events to abort at: it would be read to its end and count as complete. */
function abortIssues(step: Mapping, path: Path): readonly Found[] {
  const { abort, endpoint } = step
  const point = typeof abort === 'object' ? Object.keys(mappingOf(abort))[0] : abort
  const streamed = step.stream === true || mappingOf(step.body).stream === true
  if (streamed || endpoint === 'other' || !streamPoints.includes(point)) return []
  return [
    {
      path,
      message: `${String(point)} is a point of a stream, but this step does not stream; give it stream: true.`,
    },
  ]
}

const streamPoints: readonly unknown[] = ['first-event', 'before-done', 'events']

function keyIssues(scenario: Mapping): readonly Found[] {
  return entries(scenario.keys).flatMap(([name, key]) => {
    const path = ['keys', name]
    const written = mappingOf(scenario.keys)[name]
    if (typeof written !== 'object' || written === null) return []
    if ('env' in key === 'file' in key) {
      return [
        { path, message: 'expected either env: NAME or file: path, and exactly one of them.' },
      ]
    }
    return []
  })
}

function thresholdIssues(scenario: Mapping): readonly Found[] {
  const steps = Object.keys(mappingOf(scenario.steps))
  const tasks = Object.keys(mappingOf(scenario.tasks))
  const phases = items(scenario.phases).map((phase) => String(mappingOf(phase).name))
  return items(scenario.thresholds).flatMap((item, at) => {
    const text = typeof item === 'string' ? item : mappingOf(item).check
    const read = typeof text === 'string' ? parseThreshold(text) : null
    if (read === null || typeof read === 'string') return []
    const found: Found[] = []
    const path = ['thresholds', at]
    const isOfTasks = taskMetrics.includes(read.metric)
    const [named, what] = isOfTasks ? [tasks, 'task'] : [steps, 'step']
    if (read.step !== null && !named.includes(read.step)) {
      found.push({ path, message: unknownName(read.step, named, what) })
    }
    if (isOfTasks && tasks.length === 0) {
      found.push({ path, message: `${read.metric} is of tasks, and the scenario has none.` })
    }
    if (isOfTasks && Object.keys(read.filter).length > 0) {
      found.push({ path, message: `${read.metric} is of whole tasks, so it takes no filter.` })
    }
    if (read.phase !== null && !phases.includes(read.phase)) {
      found.push({ path, message: unknownName(read.phase, phases, 'phase') })
    }
    if (read.metric === 'itl' && Object.keys(read.filter).length > 0) {
      found.push({
        path,
        message: 'gaps of streams have no rows of their own, so itl takes no filter; name a step.',
      })
    }
    if (read.metric === 'fluidity' && scenario.token_deadlines === undefined) {
      found.push({
        path,
        message:
          'fluidity is of the deadlines of tokens; name them, such as token_deadlines: { first: 1s, next: 50ms }.',
      })
    }
    const objectives = Object.keys(mappingOf(scenario.objectives)).filter((name) => name !== 'task')
    const expecting = entries(scenario.steps).filter(([, step]) => step.expect !== undefined)
    const judged = expecting.filter(([name]) => read.step === null || read.step === name)
    if (read.metric === 'correct' && judged.length === 0) {
      const who = read.step === null ? 'no step says' : `step ${read.step} does not say`
      found.push({
        path,
        message: `correct needs expect: ${who} what its answers must hold.`,
      })
    }
    if (read.metric === 'goodput' && objectives.length === 0 && expecting.length === 0) {
      found.push({
        path,
        message:
          'goodput counts requests that meet the objectives; name some, such as ttft: 800ms.',
      })
    }
    return found
  })
}
