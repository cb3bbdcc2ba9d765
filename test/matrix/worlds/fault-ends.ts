import { amount } from './amounts.ts'
import type { Twist } from './cost.ts'
import { books, type Deed, type Family, type Fault, isOk, type Place } from './fault.ts'
import type { Ending, Need } from './terms.ts'

/** Another charge for how a request ended. */
const endFault = (
  name: string,
  family: Family,
  ending: Ending,
  twist: Twist,
  cause: RegExp,
): Fault => ({
  ...{ name, family, needs: [ending], places: books, about: [], twist, cause },
  strikes: ({ ended }, { charged }) => ended === ending && charged[ending] !== 'open',
})

const full: Twist = { charge: 'full' }
const none: Twist = { whole: () => 0n }
export const endFaults: readonly Fault[] = [
  endFault('abort charged in full', 'aborted', 'abort', full, /charged in full|which cost nothing/),
  endFault('abort free', 'aborted', 'abort', none, /not charged/),
  endFault(
    'abort charged for max_tokens',
    'aborted',
    'abort',
    { ask: (ask) => ({ ...ask, ended: 'ok', counts: { ...ask.counts, output: 4000 } }) },
    /max_tokens|another count of output|which cost nothing/,
  ),
  endFault(
    'broken charged in full',
    'refunded',
    'broken',
    full,
    /charged in full|its input charged|which cost nothing/,
  ),
  endFault(
    'refused charged',
    'refunded',
    'refused',
    full,
    /charged in full|its input charged|which cost nothing|belongs to no request/,
  ),
  endFault('empty charged', 'refunded', 'empty', full, /charged in full|which cost nothing/),
  endFault('filtered charged', 'refunded', 'filtered', full, /charged in full|which cost nothing/),
  endFault('replay charged', 'replayed', 'gateway_cache', full, /charged in full/),
]

const deedFault = (
  name: string,
  family: Family,
  deed: Deed,
  places: readonly Place[],
  cause: RegExp,
  needs: readonly Need[] = [],
  strikes: Fault['strikes'] = isOk,
): Fault => ({ name, family, needs, places, about: [], deed, cause, strikes })

export const deedFaults: readonly Fault[] = [
  deedFault('row twice', 'double', 'row twice', ['log'], /2 rows with tokens|charged twice/),
  deedFault('row missing', 'lost', 'row missing', ['log'], /no row in the log/),
  deedFault(
    'other tokens in the row',
    'count',
    'other tokens in the row',
    ['log'],
    /tokens in the log/,
  ),
  deedFault('other time in the row', 'time', 'other time in the row', ['log'], /in the log, sent/),
  deedFault(
    'other model in the row',
    'price',
    'other model in the row',
    ['log'],
    /^model .* in the log/m,
  ),
  deedFault('posted twice', 'double', 'posted twice', ['balance'], /charged twice/),
  deedFault('not posted', 'lost', 'not posted', ['balance'], /free/),
  deedFault(
    'posted to another account',
    'accounts',
    'posted to another account',
    ['balance'],
    /free|another account/,
    [],
    (ask) => isOk(ask),
  ),
  deedFault('given back', 'refunded', 'given back', ['balance'], /free/),
  deedFault('given back twice', 'refunded', 'given back twice', ['balance'], /given back|refund/),
  deedFault(
    'grant taken',
    'grant',
    'grant taken',
    ['balance'],
    /without a request|no request|a grant/,
    ['down'],
  ),
]

/** What a grant loses before its time. */
export const grantTaken = amount('0.5')
