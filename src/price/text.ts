import { priceOfPart } from '../contract/prices.ts'
import { compare, decimalText, one, type Rational } from '../money/rational.ts'
import { outputOf, type Part, parts, promptOf, type Usage, usageFlags } from '../tokens/usage.ts'
import { largest } from '../user/extremes.ts'
import { groupedText } from '../user/grouped.ts'
import type { Calculation } from './calculate.ts'

/** A calculation as JSON: amounts and prices are exact decimals, as text. */
export function costJson(model: string, found: Calculation, usage: Usage, unit: string) {
  return {
    model,
    cost: found.cost === null ? null : decimalText(found.cost),
    unit,
    parts: found.lines.map(({ name, priced, count, price, per, cost }) => ({
      name,
      priced_as: priced,
      count: numberOf(count),
      price: decimalText(price),
      per: decimalText(per),
      cost: decimalText(cost),
    })),
    steps: found.steps.map(({ step, summary, cost }) => ({
      step,
      summary,
      cost: decimalText(cost),
    })),
    because: found.because,
    open: found.open,
    unknown: found.unknown,
    assumed: found.assumed,
    usage: {
      parts: Object.fromEntries(
        parts.flatMap((part) => (usage.parts[part] === null ? [] : [[part, usage.parts[part]]])),
      ),
      prompt: promptOf(usage.parts),
      output: outputOf(usage.parts),
      flags: usage.flags,
    },
  }
}

const numberOf = (value: Rational) =>
  value.denominator === 1n ? Number(value.numerator) : decimalText(value)

/** A calculation for people, part by part, with the arithmetic. */
export function costText(model: string, found: Calculation, usage: Usage, unit: string): string {
  const amount = (value: Rational) => `${decimalText(value)} ${unit}`
  const rows = found.lines.map(({ name, priced, count, price, per, cost }) => [
    priced === (priceOfPart[name as Part] ?? name) ? name : `${name} (as ${priced})`,
    groupedText(decimalText(count)),
    `x ${decimalText(price)}${compare(per, one) === 0 ? '' : ` / ${groupedText(decimalText(per))}`}`,
    `= ${decimalText(cost)}`,
  ])
  const widths = [0, 1, 2].map((at) => largest([0, ...rows.map((row) => row[at]!.length)]))
  const lines = rows.map(
    ([name, count, price, cost]) =>
      `  ${name!.padEnd(widths[0]!)}  ${count!.padStart(widths[1]!)} ${price!.padEnd(widths[2]!)} ${cost}`,
  )
  const because = found.because.length === 0 ? '' : ` (${found.because.join(', ')})`
  return [
    found.cost === null
      ? `${model}${because}: the cost is not known`
      : `${model}${because}: ${amount(found.cost)}`,
    ...lines,
    ...found.steps.map(({ step, summary, cost }) => `  ${step}: ${summary} = ${decimalText(cost)}`),
    ...found.open.map((name) => `  open: the contract promises nothing about ${name}`),
    ...found.unknown.map((name) => `  unknown: nothing states ${name}`),
    ...(found.assumed.length === 0
      ? []
      : [`  not reported, so counted as none: ${found.assumed.join(', ')}`]),
    ...usage.flags.map((flag) => `  usage is wrong in itself: ${usageFlags[flag]}`),
    '',
  ].join('\n')
}
