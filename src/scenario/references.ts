import {
  generating,
  isPromised,
  plainReads,
  promised,
  prompted,
  takesPrompt,
  wrongNeedsBody,
  wrongRequests,
} from '../contract/request.ts'
import { plainText } from '../user/hostile.ts'
import { type JsonObject, objectOf } from '../user/json.ts'
import { scenarioHeaderIssue } from './header-issue.ts'
import { type Found, foundIf, type Path, unknownName, unknownNames } from './issues.ts'
import { entries, items } from './loose.ts'
import { phaseIssues } from './phase-issues.ts'
import { prefixIssues } from './prefix-issues.ts'
import { targetIssues } from './target-issues.ts'
import { taskIssues } from './task-issues.ts'
import { parseThreshold, type Threshold, taskMetrics } from './threshold.ts'

/**
 * Issues between parts of a scenario. It reads the scenario as written, even if it is incomplete, so that
 * issues of shape do not hide these.
 */
export function crossIssues(data: unknown): readonly Found[] {
  const scenario = objectOf(data)
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
function hostileNames(scenario: JsonObject): readonly Found[] {
  const names: readonly (readonly [Path, unknown])[] = [
    ...(['steps', 'tasks', 'keys'] as const).flatMap((list) =>
      entries(scenario[list]).map(([name]) => [[list, name], name] as const),
    ),
    ...entries(scenario.keys).map(
      ([name, { account }]) => [['keys', name, 'account'], account] as const,
    ),
    ...items(scenario.phases).map(
      (phase, at) => [['phases', at, 'name'], objectOf(phase).name] as const,
    ),
  ]
  return names.flatMap(([path, name]) =>
    typeof name === 'string' && plainText(name) !== name
      ? [{ path, message: 'expected a name without control characters and invisible marks.' }]
      : [],
  )
}

/** A certificate and its key need each other. */
function identityIssues(scenario: JsonObject): readonly Found[] {
  const pair = ['cert_file', 'key_file'] as const
  const [given, other] = scenario.cert_file === undefined ? [pair[1], pair[0]] : pair
  const isAlone = scenario[given] !== undefined && scenario[other] === undefined
  return foundIf([given], [isAlone, `${given} also needs ${other}: a certificate and its key.`])
}

function stepIssues(scenario: JsonObject): readonly Found[] {
  const steps = entries(scenario.steps)
  const isEmpty = 'steps' in scenario && steps.length === 0
  return [
    ...foundIf(['steps'], [isEmpty, 'expected at least one step; got none.']),
    ...steps.flatMap(([name, step]) => issuesOfStep(scenario, name, step)),
  ]
}

/** Fields that only a request with a prompt has. */
const fieldsOfPrompts = 'stream session max_tokens output_tokens system prompt'.split(' ')

function issuesOfStep(scenario: JsonObject, name: string, step: JsonObject): readonly Found[] {
  const path = ['steps', name]
  const { endpoint, max_tokens: most, output_tokens: asked } = step
  const own = String(endpoint)
  const wrong = wrongRequests.find((known) => known === step.wrong)
  const keys = Object.keys(objectOf(scenario.keys))
  const takes = (field: string) =>
    !plain.has(endpoint) && (endpoint !== 'embeddings' || field === 'prompt')
  return [
    ...unknownNames(step.keys, keys, 'key', [...path, 'keys']),
    ...foundIf(path, [
      takesPrompt(endpoint) && step.model === undefined && scenario.model === undefined,
      `${own} needs a model; name one here or at the top (model: null sends none).`,
    ]),
    ...lengthIssues(scenario, name, step, path),
    ...foundIf(
      path,
      [
        endpoint === 'messages' && most === undefined && asked === undefined,
        'messages needs max_tokens (max_tokens: null sends none on purpose).',
      ],
      [
        endpoint === 'other' && step.path === undefined && step.wrong !== 'unknown-path',
        'the endpoint other needs a path, such as path: /v1/moderations.',
      ],
      ...fieldsOfPrompts.map((field) => {
        const of = (field === 'prompt' ? prompted : generating).join(', ')
        const message = `${field} is for ${of}; this step requests ${own}.`
        return [!takes(field) && step[field], message, field] as const
      }),
      [
        step.include_usage === true && !(endpoint === 'chat' && step.stream === true),
        'include_usage requests the token counts of a chat stream: it needs endpoint: chat and stream: true.',
        'include_usage',
      ],
    ),
    ...prefixIssues(objectOf(step.prompt), [...path, 'prompt']),
    ...expectIssues(step, [...path, 'expect']),
    ...headerIssues(step.headers, [...path, 'headers']),
    ...abortIssues(step, [...path, 'abort']),
    ...foundIf(
      path,
      [
        wrong !== undefined && wrongNeedsBody(wrong) && !isPromised(endpoint),
        `${wrong} needs a request with a body; use it with ${promised.join(' or ')}.`,
        'wrong',
      ],
      [
        step.wrong !== undefined && step.session !== undefined,
        'a request that is wrong on purpose has no response to continue from.',
        'session',
      ],
    ),
  ]
}

/** A length has one source: the step, or the trace of a replay. */
function lengthIssues(
  scenario: JsonObject,
  name: string,
  step: JsonObject,
  path: Path,
): readonly Found[] {
  const { output_tokens: asked, max_tokens: most, enforce_output: enforced } = step
  if (asked === undefined) {
    const message = 'enforce_output is of output_tokens, which this step does not have.'
    return foundIf(path, [enforced !== undefined, message, 'enforce_output'])
  }
  if (most !== undefined && most !== null) {
    const message = 'expected one of output_tokens and max_tokens; got both.'
    return foundIf(path, [true, message, 'max_tokens'])
  }
  const replayed = items(scenario.phases)
    .map(objectOf)
    .filter((phase) => {
      const named = items(phase.steps)
      return named.length === 0 ? step.weight !== 0 : named.includes(name)
    })
    .map(({ load }) => load === 'replay')
  return foundIf(
    path,
    [
      asked === 'trace' && replayed.includes(false),
      'output_tokens: trace needs phases with load: replay; write a number for the others.',
      'output_tokens',
    ],
    [
      asked !== 'trace' && replayed.includes(true),
      'a replay has the lengths of its trace; write output_tokens: trace.',
      'output_tokens',
    ],
  )
}

/** Only an answer that may succeed can be correct. */
function expectIssues(step: JsonObject, path: Path): readonly Found[] {
  const { expect, endpoint } = step
  if (expect === undefined) return []
  const { matches } = objectOf(expect)
  const mayHave: readonly unknown[] = [...generating, 'other']
  const noRegExp = typeof matches === 'string' ? noRegExpBecause(matches) : null
  return foundIf(
    path,
    [
      Object.keys(objectOf(expect)).length === 0,
      'expected something that the answer must hold; got nothing.',
    ],
    [
      !mayHave.includes(endpoint),
      `expect is for ${mayHave.join(', ')}; this step requests ${String(endpoint)}.`,
    ],
    ...(['wrong', 'abort'] as const).map((field) => {
      const message = `a step with ${field} has no whole answer; leave out expect.`
      return [step[field] !== undefined, message] as const
    }),
    [noRegExp !== null, `expected a regular expression; ${noRegExp}.`, 'matches'],
  )
}

function noRegExpBecause(text: string): string | null {
  try {
    new RegExp(text, 'u')
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const plain: ReadonlySet<unknown> = new Set(plainReads)

const headerIssues = (headers: unknown, path: Path): readonly Found[] =>
  Object.entries(objectOf(headers)).flatMap(([name, value]) => {
    const message = scenarioHeaderIssue(name, String(value))
    return message === null ? [] : [{ path: [...path, name], message }]
  })

/** A plain response has no events to abort at: it would be read to its end and count as complete. */
function abortIssues(step: JsonObject, path: Path): readonly Found[] {
  const { abort, endpoint } = step
  const point = typeof abort === 'object' ? Object.keys(objectOf(abort))[0] : abort
  const streamed = step.stream === true || objectOf(step.body).stream === true
  return foundIf(path, [
    !streamed && endpoint !== 'other' && streamPoints.includes(point),
    `${String(point)} is a point of a stream, but this step does not stream; give it stream: true.`,
  ])
}

const streamPoints: readonly unknown[] = ['first-event', 'before-done', 'events']

function keyIssues(scenario: JsonObject): readonly Found[] {
  return entries(scenario.keys).flatMap(([name, key]) => {
    const written = objectOf(scenario.keys)[name]
    const isObject = typeof written === 'object' && written !== null
    const message = 'expected either env: NAME or file: path, and exactly one of them.'
    return foundIf(['keys', name], [isObject && 'env' in key === 'file' in key, message])
  })
}

function thresholdIssues(scenario: JsonObject): readonly Found[] {
  return items(scenario.thresholds).flatMap((item, at) => {
    const text = typeof item === 'string' ? item : objectOf(item).check
    const read = typeof text === 'string' ? parseThreshold(text) : null
    return read === null || typeof read === 'string'
      ? []
      : issuesOfThreshold(scenario, read, ['thresholds', at])
  })
}

function issuesOfThreshold(
  scenario: JsonObject,
  { metric, step, phase, filter }: Threshold,
  path: Path,
): readonly Found[] {
  const tasks = Object.keys(objectOf(scenario.tasks))
  const phases = items(scenario.phases).map((each) => String(objectOf(each).name))
  const isOfTasks = taskMetrics.includes(metric)
  const [named, what] = isOfTasks
    ? [tasks, 'task']
    : [Object.keys(objectOf(scenario.steps)), 'step']
  const hasFilter = Object.keys(filter).length > 0
  const objectives = Object.keys(objectOf(scenario.objectives)).filter((name) => name !== 'task')
  const expecting = entries(scenario.steps).filter(([, { expect }]) => expect !== undefined)
  const isExpected = expecting.some(([name]) => step === null || step === name)
  const who = step === null ? 'no step says' : `step ${step} does not say`
  return foundIf(
    path,
    [step !== null && !named.includes(step), unknownName(step ?? '', named, what)],
    [isOfTasks && tasks.length === 0, `${metric} is of tasks, and the scenario has none.`],
    [isOfTasks && hasFilter, `${metric} is of whole tasks, so it takes no filter.`],
    [phase !== null && !phases.includes(phase), unknownName(phase ?? '', phases, 'phase')],
    [
      metric === 'itl' && hasFilter,
      'gaps of streams have no rows of their own, so itl takes no filter; name a step.',
    ],
    [
      metric === 'fluidity' && scenario.token_deadlines === undefined,
      'fluidity is of the deadlines of tokens; name them, such as token_deadlines: { first: 1s, next: 50ms }.',
    ],
    [
      metric === 'correct' && !isExpected,
      `correct needs expect: ${who} what its answers must hold.`,
    ],
    [
      metric === 'goodput' && objectives.length === 0 && expecting.length === 0,
      'goodput counts requests that meet the objectives; name some, such as ttft: 800ms.',
    ],
  )
}
