import { z } from 'zod'
import { barWidths } from '../../measure/usage/calendar.ts'
import { endFilters, ends } from '../../measure/usage/ends.ts'
import type { TagDimension } from '../../measure/usage/tags.ts'
import { billEntries } from '../../store/import/entry-types.ts'
import { eachToken, shownTokens } from '../../tokens/kinds.ts'
import { words } from '../../user/words.ts'
import { alertTypes, deliveryStates } from '../alerts/journal.ts'
import { budgetPeriods, showable } from '../settings/settings.ts'

/** The shapes of the API: parameters are checked by them, and the OpenAPI document is made of them. */

const text = () => z.string()
const names = (most = 20) => z.array(z.string().max(300)).max(most)

export const metrics = ['credits', 'cost', 'requests', ...shownTokens] as const
export type Metric = (typeof metrics)[number]
export const dimensions = ['model', 'key', 'endpoint', 'outcome'] as const
export type Dimension = (typeof dimensions)[number] | TagDimension
/** One of a list, or a tag by its name. */
const split = <const Names extends readonly string[]>(names: Names) =>
  z
    .union([z.enum(names), z.templateLiteral(['tag:', z.string().min(1).max(50)])])
    .meta({ description: 'tag:NAME is an own dimension, such as tag:team' })

export const period = z.strictObject({
  from: text().meta({
    description: 'A date, or a time with an offset',
    examples: ['2026-11-01', '2026-11-01T09:30:00+01:00'],
  }),
  to: text().meta({ description: 'Exclusive', examples: ['2026-12-01'] }),
  timezone: text().optional().meta({ description: 'An IANA name; default: that of the account' }),
})
export const filters = z.strictObject({
  model: names().default([]),
  key: names().default([]).meta({ description: 'A name, or the first 12 digits of a fingerprint' }),
  endpoint: names().default([]),
  tag: names()
    .default([])
    .meta({
      description: 'NAME:VALUE of an own dimension; values of one name add up',
      examples: [['team:search']],
    }),
  outcome: z
    .array(z.enum(endFilters))
    .default([])
    .meta({ description: 'How requests ended; failed is each end but ok' }),
})
const whole = (least: number, most: number, usual: number) =>
  z.coerce.number().int().min(least).max(most).default(usual)
const paging = {
  limit: whole(1, 200, 50),
  cursor: z.string().max(200).optional().meta({ description: 'next of the page before' }),
}
const unit = () =>
  text()
    .max(100)
    .optional()
    .meta({
      description:
        'The unit of amounts, if there are several; default: the one in use at the end of the period',
      examples: ['EUR'],
    })
const flag = z.enum(['true', 'false']).default('false')

const exported = z.enum(['csv', 'jsonl', 'parquet']).default('csv')
const asked = period.extend(filters.shape)
export const parameters = {
  account: z.strictObject({}),
  summary: asked,
  series: asked.extend({
    bucket: z.enum(['auto', ...barWidths]).default('auto'),
    metric: z.enum(metrics).default('credits'),
    by: split(['none', ...dimensions]).default('none'),
    unit: unit(),
    cumulative: flag,
  }),
  breakdown: asked.extend({
    by: split([...dimensions, 'day']),
    sort: z.enum(['credits', 'cost', 'requests', 'tokens', 'name']).default('credits'),
    unit: unit(),
    ...paging,
  }),
  requests: asked.extend({
    sort: z
      .enum(['time', 'cost', 'credits', 'tokens', 'duration'])
      .default('time')
      .meta({ description: 'The newest, or the greatest first; what is not known stands last' }),
    unit: unit(),
    ...paging,
  }),
  credits: z.strictObject({}),
  budgets: z.strictObject({}),
  outlook: z.strictObject({ days: whole(1, 366, 90) }),
  alerts: z.strictObject({ limit: whole(1, 200, 50) }),
  notices: z.strictObject({}),
  export: asked.extend({
    format: exported,
    bucket: z.enum(barWidths).default('day'),
  }),
  exportRequests: asked.extend({
    format: exported,
    limit: whole(1, 100_000, 100_000),
    cursor: z.string().max(200).optional().meta({ description: 'Of the link of the file before' }),
  }),
  live: z.strictObject({}),
}

const decimalPattern = /^-?[0-9]+(\.[0-9]+)?$/
const decimal = z
  .string()
  .regex(decimalPattern)
  .meta({ id: 'Decimal', examples: ['12.5'] })
const amount = z
  .string()
  .regex(decimalPattern)
  .nullable()
  .meta({ id: 'Amount', description: 'Null is unknown' })
const count = z.int().nullable().meta({ id: 'Count', description: 'Null is unknown' })
const time = z.iso
  .datetime({ offset: true })
  .meta({ id: 'Time', description: 'RFC 3339 with an offset' })
const money = z.object({ currency: text(), value: decimal }).meta({ id: 'Money' })
const figure = z
  .object({ value: amount, unknownShare: z.number().min(0).max(1), previous: amount })
  .meta({
    id: 'Figure',
    description:
      'A sum, the share of requests that do not report it, and the sum of the period before',
  })
const spent = figure
  .extend({ refunds: amount.meta({ description: '0 or less, and part of the value' }) })
  .meta({ id: 'Spent' })
const month = text().meta({ description: 'The closed month that it is of' })
const cameAt = time.meta({ description: 'When the last of it came, after the month was closed' })
const afterClosing = z.object({
  type: z.literal('after-closing'),
  ...{ unit: text(), value: amount, entries: z.int(), month, at: cameAt },
})
const row = z
  .object({
    name: text().nullable(),
    requests: count,
    credits: amount,
    cost: z.array(money),
    ...eachToken(() => count),
    failed: count,
  })
  .meta({ id: 'Row' })
const named = row
  .extend({
    previous: z
      .object({ requests: count, credits: amount, cost: z.array(money) })
      .nullable()
      .meta({
        description:
          'What it used in the period before; null for a day, or if that period is no measure',
      }),
    new: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether it was never used before; null if previous is' }),
  })
  .meta({ id: 'NamedRow' })

export const answers = {
  account: z
    .object({
      label: text(),
      currency: text().nullable(),
      locale: text(),
      timezone: text(),
      shows: z.array(z.enum(showable)),
      tags: z.array(text()).meta({ description: 'The own dimensions that the token shows' }),
      coverage: z.object({
        first: time.nullable(),
        last: time.nullable(),
        widthSeconds: z.int(),
        gaps: z.array(z.object({ start: time, end: time })),
      }),
      refreshedAt: time,
    })
    .meta({ id: 'Account' }),
  summary: z
    .object({
      requests: figure,
      credits: spent.nullable(),
      cost: z.array(spent.extend({ currency: text(), value: decimal }).meta({ id: 'Cost' })),
      tokens: z.object(eachToken(() => figure)),
      entries: z
        .array(
          afterClosing.extend({
            type: z.enum([...billEntries, 'after-closing']),
            month: month.nullable(),
            at: cameAt.nullable(),
          }),
        )
        .meta({
          description:
            'What a bill has beside its use, such as taxes and fees, and what came after a month was closed; no part of credits or cost',
        }),
      later: z.array(afterClosing).meta({
        description:
          'What came after a closed month of the period was closed, and stands in `entries` of the later time `at`; no part of credits or cost',
      }),
      successShare: z.number().min(0).max(1).nullable(),
      previousSuccessShare: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .meta({ description: 'Of the period before' }),
      refreshedAt: time,
    })
    .meta({ id: 'Summary' }),
  series: z
    .object({
      bucket: z.enum(barWidths),
      unit: text().nullable().meta({ description: 'The unit of the values; null for counts' }),
      units: z.array(text()).meta({ description: 'The units that the account has amounts in' }),
      bars: z
        .array(z.object({ start: time, end: time, open: z.boolean(), measured: z.boolean() }))
        .max(400),
      series: z
        .array(
          z.object({
            name: text().nullable(),
            other: z.boolean(),
            values: z.array(amount).max(400),
          }),
        )
        .max(10),
    })
    .meta({ id: 'Series' }),
  breakdown: z
    .object({
      rows: z.array(named),
      refunds: z.object({ credits: amount, cost: z.array(money) }).meta({
        description: '0 or less: refunds that name none of the rows, and part of the total',
      }),
      total: row,
      next: text().nullable(),
    })
    .meta({ id: 'Breakdown' }),
  requests: z
    .object({
      requests: z.array(
        z.object({
          id: text().meta({ description: 'As the log has it; else made of its content' }),
          at: time,
          model: text().nullable(),
          key: text().nullable(),
          endpoint: text().nullable(),
          tags: z.array(z.object({ name: text(), value: text() })),
          outcome: z.enum(ends),
          status: z.int().nullable().meta({ description: 'Of HTTP' }),
          ...eachToken(() => count),
          credits: amount,
          cost: z.array(money),
          durationMs: z.number().nullable(),
        }),
      ),
      next: text().nullable(),
    })
    .meta({ id: 'Requests' }),
  credits: z
    .object({
      unit: text().meta({ description: '`credits`, or a currency of prepaid money' }),
      held: amount.meta({ description: 'Of grants that have begun and not expired, or by a poll' }),
      used: amount.meta({
        description: 'With grants: of what is held; else all use that is known',
      }),
      remaining: amount.meta({ description: 'With grants: held less used' }),
      expired: amount.meta({
        description: 'Of grants that are over: what nobody used; and what was taken from others',
      }),
      uncovered: amount.meta({ description: 'Use that no grant covered' }),
      source: z.enum(['grants', 'balance', 'polls', 'none']),
      asOf: time.nullable().meta({ description: 'When the balance of the settings was so' }),
      grants: z.array(
        z.object({
          name: text(),
          credits: decimal,
          used: decimal,
          remaining: decimal,
          from: time.nullable(),
          expires: time.nullable(),
          models: z.array(text()).nullable().meta({
            description:
              'The models whose use it pays for; null for all use, or if the token shows no models',
          }),
        }),
      ),
    })
    .meta({ id: 'Credits' }),
  budgets: z
    .object({
      budgets: z.array(
        z.object({
          key: text().nullable().meta({ description: 'The key whose use it is of; null for all' }),
          tag: text()
            .nullable()
            .meta({ description: 'The tag whose use it is of, as team:search; null for all' }),
          amount: decimal,
          unit: text(),
          period: z.enum(budgetPeriods),
          from: time,
          to: time,
          used: decimal,
          left: decimal,
          share: z.number().meta({ description: 'Of the amount; above 1 beyond it' }),
          crosses: z.iso
            .date()
            .nullable()
            .meta({ description: 'The day on which it is probably used up, if before its end' }),
        }),
      ),
    })
    .meta({ id: 'Budgets' }),
  outlook: z
    .object({
      known: z.boolean(),
      why: text().nullable(),
      unit: text().nullable().meta({ description: 'Of the amounts; null if it is not known' }),
      fan: z.array(z.object({ at: time, p10: decimal, p50: decimal, p90: decimal })),
      runsOut: z
        .object({ early: time.nullable(), median: time.nullable(), late: time.nullable() })
        .nullable(),
      expiries: z.array(z.object({ at: time, low: decimal, median: decimal, high: decimal })),
    })
    .meta({ id: 'Outlook' }),
  alerts: z
    .object({
      alerts: z.array(
        z.object({
          id: text(),
          at: time,
          type: z.enum(alertTypes),
          data: z.record(text(), z.unknown()).meta({ description: 'As it is sent' }),
          deliveries: z.array(
            z.object({
              state: z.enum(deliveryStates),
              attempts: z.int(),
              status: z
                .union([z.int(), text()])
                .nullable()
                .meta({ description: 'Of the last attempt: an HTTP status, or what failed' }),
              next: time.nullable().meta({ description: 'When it is sent again' }),
            }),
          ),
        }),
      ),
    })
    .meta({ id: 'Alerts' }),
  notices: z
    .object({
      notices: z
        .array(
          z
            .object({
              kind: z.enum(
                words('expiring running-out busy-hour new-key failures budget late-data'),
              ),
              text: text(),
              query: text(),
            })
            .meta({ id: 'Notice' }),
        )
        .max(3),
    })
    .meta({ id: 'Notices' }),
}
export type Answers = { readonly [Name in keyof typeof answers]: z.infer<(typeof answers)[Name]> }

export const problemShape = z
  .object({
    type: text(),
    title: text(),
    status: z.int(),
    code: text(),
    detail: text().optional(),
    hint: text().optional(),
    id: text().optional().meta({ description: 'Of the line of the log that says why' }),
  })
  .meta({ id: 'Problem' })
