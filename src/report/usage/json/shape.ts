import { z } from 'zod'
import { type TokenField, tokenFields } from '../../../measure/usage/quantities.ts'
import { eachToken } from '../../../tokens/kinds.ts'
import { usageDimensions } from '../../pages.ts'

/**
 * The shape of `assay usage --json`. `docs/schema/usage.json` is generated from it, and a test keeps them equal. Times are
 * Unix microseconds; null is "not measured", never zero.
 */

const count = z.number().int().nonnegative()
const measured = z.number().nullable()
const us = z.number().int()
const decimal = z.string().regex(/^-?\d+(\.\d+)?$/)
const summary = z.string()
const verdict = z.enum(['agrees', 'differs'])

const total = z
  .object({ value: measured, unknown: count })
  .describe('a sum, and the requests that do not report its value')

const dateBand = z
  .object({ earlyUs: measured, medianUs: measured, lateUs: measured, horizonDays: count })
  .describe('a date with an 80 % interval; null: not within the horizon')

const unknownOf = { known: z.literal(false), summary }

const sums = {
  requests: count,
  ok: count,
  failed: count.describe('all that did not succeed'),
  limited: count.describe('status 429, part of failed'),
  ambiguous: count.describe('broken, aborted or timed out, part of failed: may have been charged'),
  credits: measured,
  possibleCredits: measured,
  ...(Object.fromEntries(tokenFields.map((field) => [field, measured])) as Record<
    TokenField,
    typeof measured
  >),
}

const forecast = z.discriminatedUnion('known', [
  z.object({
    known: z.literal(true),
    medianPerDay: z.number().describe('of the coming week; 80 % of the futures are low to high'),
    lowPerDay: z.number(),
    highPerDay: z.number(),
    fullDays: count,
    summary,
  }),
  z.object({ ...unknownOf, fullDays: count }),
])

/** The columns of hours and of days. */
export const pointColumns = [
  ...['start', 'series', 'requests', 'ok', 'failed', 'limited', 'ambiguous', 'credits'],
  ...['possibleCredits', ...tokenFields, 'unknownCost', 'open', 'money'],
] as const

const points = z.object({
  columns: z.array(z.enum(pointColumns)),
  rows: z
    .array(
      z.array(
        z.union([z.string(), z.number(), z.boolean(), z.null(), z.record(z.string(), decimal)]),
      ),
    )
    .describe(
      'one row for each bucket and series with a request or an amount; start is the local start, with its offset for an hour',
    ),
  measured: z
    .array(z.object({ fromUs: us, toUs: us }))
    .describe(
      'the covered time: a bucket in it without a row had no request, a bucket outside of it is unknown',
    ),
})

const plan = z.object({
  packs: z.array(z.object({ name: z.string(), count })),
  credits: z.number(),
  priceUsdCents: z.number(),
})

export const usageShape = z.object({
  scope: z.object({
    fromUs: us,
    toUs: us,
    timezone: z.string(),
    nowUs: us,
    by: z.union([z.enum(usageDimensions), z.templateLiteral(['tag:', z.string()])]),
    account: z.string().nullable(),
    sources: z.array(
      z.object({
        origin: z
          .enum(['run', 'import', 'poll'])
          .describe('a poll has a balance but no requests, and counts only without other sources'),
        source: z.string(),
        requests: count,
        firstUs: us,
        lastUs: us,
        widestS: measured.describe('the longest interval over which it has sums'),
        partial: z
          .object({ fromUs: us, toUs: us })
          .nullable()
          .describe('the time of which only a part of its log was imported; null: none'),
        days: z
          .enum(['local', 'UTC'])
          .describe('UTC if its sums are over intervals that no local day contains'),
      }),
    ),
    unit: z.string().describe('the unit of credits: that of most amounts'),
    units: z.array(z.string()).describe('of all amounts, that of most amounts first'),
    creditUsd: measured.describe('price of a credit'),
    notes: z.array(z.string()).describe('caveats, as sentences'),
  }),
  totals: z.object({
    requests: total,
    tokens: z.object(eachToken(() => total)),
    money: z.array(
      z.object({
        unit: z.string(),
        used: decimal.describe('usage less refunds'),
        refunds: decimal.describe('0 or less, and part of used'),
        computed: decimal.describe("part of used: what the user's prices gave, and no log"),
      }),
    ),
    pricedBy: z.array(z.string()).describe('the contracts whose prices gave the computed amounts'),
    unknownCost: count.describe('requests whose cost is not known, in any unit'),
    ledger: z
      .array(z.object({ type: z.string(), unit: z.string(), entries: count, amount: decimal }))
      .describe('entries that are no usage: adjustments, grants, purchases, gifts, expiries'),
  }),
  cards: z.array(
    z.object({
      name: z
        .enum(['credits', 'requests', 'tokens', 'averageTokens'])
        .describe('averageTokens: input and output of a success; each other is of all requests'),
      value: measured,
      before: measured.describe('the same over the period before; null if not measured wholly'),
      change: measured.describe('value / before - 1'),
      n: count.describe('requests behind the value'),
      unmeasured: count.describe('requests without it'),
    }),
  ),
  hours: points,
  days: points,
  weekHours: z
    .array(
      z.object({
        weekday: count,
        hour: count,
        credits: measured,
        requests: measured,
        hours: count,
      }),
    )
    .describe('means; weekday 1 is Monday'),
  balance: z.array(
    z.object({
      atUs: us,
      account: z.string(),
      remaining: z.number(),
      from: z.enum(['header', 'poll']),
    }),
  ),
  errors: z.array(z.object({ startUs: us, label: z.string(), error: z.string(), count })),
  topKeys: z.array(
    z.object({
      keyFp: z.string(),
      name: z.string().nullable(),
      lastFour: z
        .string()
        .nullable()
        .describe('last four letters of the key, if an imported log shows them'),
      account: z.string().nullable(),
      firstUs: us,
      lastUs: us,
      ...sums,
    }),
  ),
  peak: z
    .object({
      minute: measured,
      hour: measured,
      day: measured,
      unknown: z.string().nullable().describe('why shorter peaks are not known'),
    })
    .describe('the busiest clock minute, hour and day (UTC) of one key, which the band must allow'),
  forecast,
  otherForecasts: z.array(z.object({ unit: z.string(), forecast })),
  depletion: z.discriminatedUnion('known', [
    z.object({
      known: z.literal(true),
      unit: z.string().describe('of the balance: credits, or a currency'),
      balance: z.number(),
      runsOut: dateBand,
      summary,
      wasted: z.array(
        z.object({
          grant: z.string(),
          expiresUs: us,
          creditsLow: z.number(),
          creditsMedian: z.number(),
          creditsHigh: z.number(),
        }),
      ),
    }),
    z.object(unknownOf),
  ]),
  credits: z
    .object({
      unit: z.string().describe('credits, or a currency of prepaid money'),
      held: decimal,
      used: decimal,
      remaining: decimal,
      expired: decimal.describe(
        'of grants that are over: what nobody used; and what was taken from others',
      ),
      uncovered: decimal.describe('use that no grant covered; below 0 for refunds of more'),
      grants: z.array(
        z.object({
          name: z.string(),
          credits: decimal,
          used: decimal,
          remaining: decimal,
          fromUs: us.nullable(),
          expiresUs: us.nullable(),
          models: z.array(z.string()).nullable().describe('for whose use it pays; null: for all'),
        }),
      ),
    })
    .nullable()
    .describe(
      'what is held now by the settings, else by imported rows of grants: used and remaining add up to held; null without either',
    ),
  budgets: z
    .array(
      z.object({
        key: z.string().nullable().describe('of this key alone; null: of all'),
        tag: z.string().nullable().describe('of the use with this tag, NAME:VALUE'),
        amount: decimal,
        unit: z.string(),
        period: z.enum(['day', 'week', 'month', 'year']),
        used: decimal,
        share: z.number().describe('of the amount that is used'),
        fromUs: us,
        toUs: us,
        crossesUs: us.nullable().describe('when it is probably used up; null: not in this period'),
      }),
    )
    .nullable()
    .describe(
      'those of the settings for the account, each in its present period; null without settings, and of a file of quarters',
    ),
  closings: z
    .array(z.object({ month: z.string(), unit: z.string(), amount: decimal, atUs: us }))
    .nullable()
    .describe(
      'what came after each closed month of the settings was closed, and when the last of it came: the figures here have it in its month, the page and the API of the account in that of atUs; null without settings, and of a file of quarters',
    ),
  bandLosses: z.array(
    z.object({
      band: z.string(),
      minBalance: z.number(),
      requestsPerMinute: z.number(),
      lost: dateBand.nullable().describe('null: the balance is already below the minimum'),
      summary,
    }),
  ),
  plan: z
    .discriminatedUnion('known', [
      z.object({
        known: z.literal(true),
        needCredits: z.number(),
        floorBalance: z
          .number()
          .describe('what the peak needs at all times; 0 if any band allows it'),
        cheapest: plan.describe("for the month's burn, whatever the band"),
        chosen: plan,
        vetoed: plan.nullable().describe('the cheapest, if the band rules it out'),
        wastedCredits: z.number().describe('expiring credits left over'),
        reasons: z.array(z.string()),
      }),
      z.object(unknownOf),
    ])
    .nullable(),
  reconciliation: z.discriminatedUnion('known', [
    z.object({
      known: z.literal(true),
      rows: z.array(
        z.object({
          fromUs: us,
          toUs: us,
          account: z.string(),
          serviceReported: z.number(),
          seen: z.number().describe('certainly charged'),
          seenAtMost: z.number().describe('with the ambiguous ones'),
          difference: z.number().describe('beyond these; positive if the service charged more'),
          verdict,
        }),
      ),
      verdict,
      summary,
    }),
    z.object(unknownOf),
  ]),
  anomalies: z.array(
    z.object({
      kind: z.enum([
        ...['charge-without-success', 'success-without-charge', 'tokens-over-limit'],
        ...['unusual-hour', 'error-jump', 'limit-jump', 'new-key'],
        ...['service-differs', 'flat-remaining'],
      ] as const),
      summary,
      count,
      rows: z.array(z.object({ source: z.string(), id: z.string(), atUs: us, shows: z.string() })),
    }),
  ),
})

export type UsageJson = z.infer<typeof usageShape>

/** The JSON Schema of `assay usage --json`, published as `docs/schema/usage.json`. */
export const usageSchema = (): string =>
  `${JSON.stringify(z.toJSONSchema(usageShape, { reused: 'ref' }), null, 2)}\n`
