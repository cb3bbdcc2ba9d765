import type { z } from 'zod'
import {
  counted,
  duration,
  either,
  flag,
  list,
  oneOf,
  range,
  shape,
  text,
  weight,
  whole,
} from '../fields.ts'
import { mostTokens } from '../steps.ts'
import { conversations, joins, type Task, type Turn } from '../tasks.ts'
import { noTime, toolTime } from './lengths.ts'
import { promptPrefix } from './prompt.ts'

/** Requests of one turn at most. */
const mostRepeats = 1000
const mostChildren = 100

const turnNames = either(
  [text('the name of a turn'), list(text('the name of a turn'), 'a list of names of turns')],
  'the name of a turn, or a list of them',
).transform((names): readonly string[] => (typeof names === 'string' ? [names] : names))

const turn = shape('a turn: name, step, after', {
  name: [text('a name'), 'Name of the turn.'],
  step: [text('the name of a step'), 'The request that it sends.'],
  after: [
    turnNames.optional(),
    'The turn, or the turns, that must end before it. Default: the start of the task.',
  ],
  join: [
    oneOf(joins).default('all'),
    'all: waits for all of after. first: the first one decides, and the rest is aborted.',
  ],
  delay: [
    toolTime.optional(),
    'Time of a tool: from the end of the last of after to the send. Default none.',
  ],
  repeat: [
    either(
      [counted(mostRepeats), range(counted(mostRepeats))],
      'how often: a whole number from 1, or { min, max }',
    )
      .transform((times) => (typeof times === 'number' ? { min: times, max: times } : times))
      .prefault(1),
    'How often, one after the other: a number, or { min, max }.',
  ],
  children: [counted(mostChildren).default(1), 'How many such series at the same time.'],
  context: [
    oneOf(conversations).default('same'),
    'same: continues the conversation of the first of after. new: begins its own.',
  ],
  takes: [turnNames.optional(), 'Turns whose answers are part of its prompt.'],
  tools: [
    flag().default(false),
    'Offer a tool; the next request of the conversation answers its calls with its own prompt.',
  ],
}).transform(
  ({ after = [], takes = [], delay = noTime, ...turn }): Turn => ({ ...turn, after, takes, delay }),
)

const headerName = text('the name of a header')

const affinity = either(
  [
    shape('', { header: [headerName, 'Name of a header with a value of its own for each task.'] }),
    shape('', {
      repeat: [headerName, 'Name of a header that repeats what the service sent last in it.'],
    }),
  ],
  '{ header: name } or { repeat: name }',
).transform((tie) =>
  'header' in tie ? { header: tie.header, repeats: false } : { header: tie.repeat, repeats: true },
)

const context = shape('a limit: { limit, at_limit: { compact } }', {
  limit: [whole(1), 'Tokens of a conversation, at most.'],
  at_limit: [
    shape('{ compact: tokens }', {
      compact: [counted(mostTokens), 'It is replaced by a text of so many tokens.'],
    }),
    'What becomes of a longer one: { compact: tokens }.',
  ],
}).transform(({ limit, at_limit }) => ({ limitTokens: limit, compactTokens: at_limit.compact }))

export const task = shape('a task: turns', {
  weight: [weight().default(1), 'Share of the tasks, relative to the others.'],
  turns: [
    list(turn, 'a list of turns').min(1, { error: 'at least one turn' }),
    'The requests of the task.',
  ],
  deadline: [
    duration().optional(),
    'The task is aborted so long after its planned start. Default: never.',
  ],
  affinity: [affinity.optional(), 'A header that ties the requests of a task together.'],
  context: [context.optional(), 'The longest conversation, and what becomes of a longer one.'],
  prefix: [promptPrefix.optional(), 'Text at the start of each conversation: { tokens, shared }.'],
})

export function taskOf(name: string, written: z.output<typeof task>): Task {
  const { weight, turns, deadline, affinity = null, context = null, prefix = null } = written
  return { name, weight, turns, deadlineUs: deadline ?? null, affinity, context, prefix }
}
