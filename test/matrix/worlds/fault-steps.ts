import type { Ask } from './asks.ts'
import { everywhere, type Family, type Fault, isOk } from './fault.ts'
import type { Model, Need, Terms } from './terms.ts'

const onModel = (
  name: string,
  family: Family,
  need: Need,
  about: readonly string[],
  change: (model: Model, ask: Ask, terms: Terms) => Model,
  cause: RegExp,
): Fault => ({
  ...{ name, family, needs: [need], places: everywhere, about, cause },
  strikes: isOk,
  twist: { model: change },
})

/** Steps of the price that are left out, or taken for others. */
export const stepFaults: readonly Fault[] = [
  onModel(
    'tier ignored',
    'tier',
    'tier',
    [],
    (model) => ({ ...model, tier: null }),
    /the tier ignored/,
  ),
  onModel(
    'tier by the piece',
    'tier',
    'tier',
    [],
    (model) => ({
      ...model,
      tier: model.tier === null ? null : { ...model.tier, apply: 'marginal' },
    }),
    /only the tokens above the threshold/,
  ),
  onModel(
    'tier counts input alone',
    'tier',
    'tier',
    [],
    (model) => ({ ...model, tier: model.tier === null ? null : { ...model.tier, count: 'input' } }),
    /the tier counts input without/,
  ),
  onModel(
    'flex ignored',
    'tier',
    'flex',
    [],
    (model) => ({ ...model, flex: null }),
    /the service tier ignored/,
  ),
  onModel(
    'hours ignored',
    'time',
    'hours',
    [],
    (model) => ({ ...model, hours: null }),
    /the hours ignored/,
  ),
  onModel(
    'hours all day',
    'time',
    'hours',
    [],
    (model) => ({
      ...model,
      hours: model.hours === null ? null : { ...model.hours, from: 0, to: 1440 },
    }),
    /the hours applied all day/,
  ),
  onModel(
    'stale price',
    'time',
    'change',
    [],
    (model) => ({ ...model, change: null }),
    /the price before/,
  ),
  onModel(
    'change too early',
    'time',
    'change',
    [],
    (model) => ({ ...model, change: model.change === null ? null : { ...model.change, at: -1e6 } }),
    /a change applied before its time/,
  ),
  onModel(
    'margin left out',
    'price',
    'margin',
    [],
    (model) => ({ ...model, margin: null }),
    /the factor margin left out/,
  ),
  onModel(
    'group left out',
    'price',
    'group',
    [],
    (model) => ({ ...model, group: null }),
    /the factor group left out/,
  ),
  onModel(
    'other group',
    'price',
    'group',
    [],
    (model) => ({
      ...model,
      group: model.group === null ? null : { usual: model.group.vip, vip: model.group.usual },
    }),
    /the factor of group/,
  ),
  onModel(
    'rounding left out',
    'rounding',
    'round',
    [],
    (model) => ({ ...model, round: null }),
    /the rounding left out/,
  ),
  onModel(
    'minimum left out',
    'rounding',
    'minimum',
    [],
    (model) => ({ ...model, minimum: null }),
    /the smallest charge left out/,
  ),
  onModel(
    'request free',
    'price',
    'request',
    ['request'],
    (model) => ({ ...model, request: null }),
    /request free/,
  ),
  onModel(
    'search free',
    'price',
    'search',
    ['search'],
    (model) => ({ ...model, search: null }),
    /search free/,
  ),
  onModel(
    'price of another model',
    'price',
    'models',
    [],
    (model, ask, { models }) => {
      const other = models.find(({ id }) => id !== model.id) ?? model
      return { ...other, id: model.id, alias: ask.model }
    },
    /the price of (big|small)/,
  ),
]
