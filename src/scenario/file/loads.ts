import { z } from 'zod'
import {
  amount,
  duration,
  either,
  list,
  oneOf,
  ordered,
  rate,
  shape,
  share,
  someTime,
  text,
  weight,
  whole,
} from '../fields.ts'
import { budgetNames, parts, spacings, traceFormats, traceUnits } from '../loads.ts'
import { think } from './lengths.ts'

// The fields of a phase by its load: how requests arrive. Each field has its schema and its description.

const rampFrom = 'Where the ramp begins.'
const rampTo = 'Where the ramp ends.'

const rateOrRamp = either(
  [rate(), shape('', { from: [rate(), rampFrom], to: [rate(), rampTo] })],
  'a rate such as 20/s or 1200/min, or a ramp { from: 1/s, to: 50/s }',
)

const rateText = 'Requests a second: 20/s, or a ramp { from: 1/s, to: 50/s }; of a day, its mean.'

const rated = {
  rate: [rateOrRamp, rateText],
} as const

const common = {
  name: [text('a name'), 'Name of the phase.'],
  part: [oneOf(parts).default('steady'), 'warmup, steady or drain; figures are of steady phases.'],
  steps: [
    list(text('the name of a step'), 'a list of names of steps').default([]),
    'Names of the steps to draw from. Default: all that have a weight.',
  ],
  tasks: [
    list(text('the name of a task'), 'a list of names of tasks').default([]),
    'Names of the tasks to draw from, instead of single requests.',
  ],
} as const

const begun = {
  ...common,
  start: [
    either(
      [
        z.literal('middle'),
        shape('', {
          middle: [whole(1), 'Number of tasks that have begun already, each at a drawn turn.'],
        }),
      ],
      'middle, or { middle: number of tasks }',
    ).optional(),
    'Of tasks, middle: the first have begun already.',
  ],
} as const

const length = 'How long the phase lasts.'
const mostRequests = { max_requests: [whole(1).optional(), 'Requests at most.'] } as const
const bounded = {
  ...begun,
  duration: [someTime('a duration').optional(), length],
  ...mostRequests,
} as const

const expectedShape = 'a shape from 0.001: 1 is Poisson, less is burstier'
const burstiness = amount(expectedShape).min(0.001, { error: expectedShape })
const burstinessIs = 'Shape of the gamma distribution of gaps: 1 is Poisson, less is burstier.'
const spacing = {
  arrivals: [
    oneOf(spacings).default('poisson'),
    'Gaps between requests: constant, poisson or gamma.',
  ],
  burstiness: [burstiness.optional(), burstinessIs],
} as const

const load = <const Name extends string>(name: Name) =>
  ({ load: [z.literal(name), 'How requests arrive.'] }) as const

const stage = shape('a stage: { rate, duration }', {
  rate: [rateOrRamp, 'Requests a second in the stage: 20/s, or a ramp.'],
  duration: [duration(), 'How long the stage lasts.'],
})

const sweep = shape('a phase', {
  ...load('sweep'),
  start: [
    either([z.literal('auto'), rate()], 'auto, or a rate such as 20/s').default('auto'),
    'First rate of the search; auto: the rate that has one request in flight.',
  ],
  max: [rate(), 'Highest rate of the search.'],
  budget: [
    oneOf(budgetNames).optional(),
    'What the search may spend: quick, standard or thorough. Default standard, or what fits into for.',
  ],
  for: [duration().optional(), 'Most time of the search.'],
  trial: [someTime('a trial').optional(), 'Least length of each trial.'],
  cool_down: [
    duration().optional(),
    'Pause after a failed trial. Default a tenth of it, at most 5s.',
  ],
  precision: [
    share()
      .refine((ratio) => ratio > 0, { error: 'a precision above 0' })
      .optional(),
    'Ratio of neighbouring rates at the end, instead of that of the budget.',
  ],
  hold: [
    whole(100).optional(),
    'Requests of the long trial that confirms the rate, instead of those of the budget and its least time of 60s.',
  ],
  headroom: [
    whole(0).default(1),
    'Steps between the rate that held and the rate that is called safe.',
  ],
  goodput: [
    share()
      .refine((goodput) => goodput !== 1, {
        error: 'a share below 100%, such as 99%, because no number of requests proves 100%',
      })
      .optional(),
    'Share of requests that must meet the objectives in a trial. Default 99%.',
  ],
  ...spacing,
  ...common,
}).superRefine(ordered('start', 'max'))

const replay = shape('a phase', {
  ...load('replay'),
  file: [text('a path'), 'The trace.'],
  format: [
    oneOf(traceFormats).optional(),
    'Format of the trace. Default: recognised by its fields. columns is any other CSV or JSON Lines.',
  ],
  unit: [
    oneOf(traceUnits).optional(),
    'Unit of the times in the trace. Default: read from its format and its rows.',
  ],
  columns: [
    shape('', {
      time: [
        text('a column name'),
        'Column of the time of a request: a number, or an instant such as 2024-05-12T00:00:02Z.',
      ],
      input: [text('a column name'), 'Column of the tokens of the prompt.'],
      output: [text('a column name'), 'Column of the tokens of the answer.'],
      session: [text('a column name').optional(), 'Column of the conversation, if there is one.'],
    }).optional(),
    'Names of the columns of a trace in no known format.',
  ],
  speed: [
    amount('a speed: 1 is as recorded, 10 ten times as fast').default(1),
    'Speed of the replay: 10 is ten times as fast.',
  ],
  gaps: [
    either(
      [oneOf(['recorded', 'none']), shape('', { cap: [duration(), 'The longest gap.'] })],
      'recorded, none, or { cap: 10s }',
    ).optional(),
    'Wait for the answer before, and then for the recorded gap: recorded, none, or { cap: 10s }. Default: send at the recorded times.',
  ],
  users: [
    whole(1).optional(),
    'Users that each do one recorded session after the other. Default: each session at its recorded time.',
  ],
  ...bounded,
})

const loads = [
  shape('a phase', { ...load('constant'), ...rated, ...bounded }),
  shape('a phase', { ...load('poisson'), ...rated, ...bounded }),
  shape('a phase', {
    ...load('gamma'),
    ...rated,
    burstiness: [burstiness, burstinessIs],
    ...bounded,
  }),
  shape('a phase', {
    ...load('stages'),
    stages: [
      list(stage, 'a list of stages: { rate, duration }').min(1, { error: 'at least one stage' }),
      'Rates or ramps, one after the other.',
    ],
    ...spacing,
    ...begun,
    ...mostRequests,
  }),
  shape('a phase', {
    ...load('day'),
    rate: [rate(), rateText],
    weights: [
      list(weight(), '24 weights, one for each hour').length(24, {
        error: '24 weights, one for each hour',
      }),
      'One weight for each hour of a day.',
    ],
    days: [amount('a number of days').default(1), 'Days that pass within the duration.'],
    ...spacing,
    ...begun,
    ...mostRequests,
    duration: [someTime('a duration'), length],
  }),
  shape('a phase', {
    ...load('concurrency'),
    users: [
      either(
        [
          whole(1),
          shape('', {
            from: [whole(0), rampFrom],
            to: [whole(1), rampTo],
            over: [duration(), 'How long the ramp takes.'],
          }),
        ],
        'a number of users, or a ramp { from: 1, to: 50, over: 30s }',
      ),
      'Users, each with one request in flight: 50, or { from: 1, to: 50, over: 30s }.',
    ],
    think: [
      think.optional(),
      'Time between an answer and the next request of a user. Default none.',
    ],
    ...bounded,
  }),
  shape('a phase', {
    ...load('saturate'),
    connections: [whole(1), 'Connections, each sending without a pause.'],
    ...common,
    duration: [someTime('a duration'), length],
  }),
  sweep,
  replay,
] as const

const loadNames = loads.map((each) => each.shape.load.value)

export const phase = z.discriminatedUnion('load', loads, {
  error: `a phase whose load is one of ${loadNames.join(', ')}`,
})
