import { type Html, html } from '../../user/html.ts'
import { type DearDay, roundTimes } from '../figures/cause.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

type Tone = 'fail' | 'warn' | 'none' | 'good'
const order: readonly Tone[] = ['fail', 'warn', 'none', 'good']
const signs: Readonly<Record<Tone, string>> = { fail: '✕', warn: '!', none: '…', good: '✓' }

interface State {
  readonly tone: Tone
  readonly text: string
  /** The view that shows it. */
  readonly query: string | null
  readonly isDear?: boolean
}

const tones: Readonly<Record<PageData['notices'][number]['kind'], Tone>> = {
  budget: 'warn',
  'running-out': 'warn',
  expiring: 'warn',
  'busy-hour': 'warn',
  failures: 'warn',
  'new-key': 'none',
  'late-data': 'none',
}

/** So many others are shown; more of them open below. */
const mostOthers = 2

/** The worst thing that a customer should know, always in the same place, why the dearest day was dear, and the others below. */
export function renderState(data: PageData, speech: Speech): Html {
  const [worst, ...rest] = statesOf(data, speech)
  const dear = rest.find(({ isDear }) => isDear)
  const others = rest.filter((each) => each !== dear)
  const said = ({ text, query }: State) =>
    query === null
      ? html`${text}`
      : html`${text} <a href="${query}" data-keep>${speech.say('state.show')}</a>`
  const list = html`<ul>${others.map((each) => html`<li>${said(each)}</li>`)}</ul>`
  const below =
    others.length > mostOthers
      ? html`<details><summary>${speech.say('state.more', { more: others.length })}</summary>${list}</details>`
      : others.length > 0 && list
  return html`<section class="state ${worst!.tone}"><h2><b aria-hidden="true">${signs[worst!.tone]}</b> ${said(worst!)}</h2>${dear && html`<p>${said(dear)}</p>`}${below}</section>`
}

function statesOf(data: PageData, speech: Speech): readonly State[] {
  const { say } = speech
  const { credits, dear, notices, budgets, summary } = data
  const states: State[] = []
  if (credits !== null && credits.remaining !== null && Number(credits.remaining) <= 0)
    states.push({ tone: 'fail', text: say('answer.none'), query: null })
  const isOver = budgets.some(({ share }) => share >= 1)
  if (dear !== null) states.push(dearState(dear, data, speech))
  for (const { kind, text, query } of notices) {
    // The dearest day says what, how much and by whom.
    if (kind === 'busy-hour' && dear !== null) continue
    const tone = kind === 'budget' && isOver ? 'fail' : tones[kind]
    states.push({ tone, text, query: query === '?' ? null : query })
  }
  for (const { budget, crossesUs, share } of budgets) {
    if (crossesUs === null || share >= 1) continue
    const amount = speech.amount(budget.unit, budget.amount)
    const text = say('state.crosses', { amount, date: speech.day(crossesUs) })
    states.push({ tone: 'warn', text, query: null })
  }
  if (states.length === 0) {
    const share = summary.successShare
    const text =
      share === null ? say('state.nothing') : say('state.fine', { share: speech.share(1 - share) })
    states.push({ tone: share === null ? 'none' : 'good', text, query: null })
  }
  return states.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}

/** The dearest day: how much, in which unit, by which model and key; its view is of the same unit. */
function dearState(dear: DearDay, { units }: PageData, speech: Speech): State {
  const { say } = speech
  const values = {
    date: speech.day(dear.fromUs),
    amount: speech.amount(dear.unit, dear.amount),
    times: roundTimes(dear.times),
  }
  const [from, to] = [speech.date(dear.fromUs), speech.date(dear.toUs)]
  const query = new URLSearchParams({
    from,
    to,
    ...(units.length > 1 ? { unit: dear.unit } : {}),
  })
  const names = dear.names
    .map(({ of, name, share }) => say(`cause.${of}`, { name, share: speech.share(share) }))
    .join(' · ')
  const what = names === '' ? say('state.dear', values) : say('state.dearBy', { ...values, names })
  const causes = causesOf(dear, speech)
  const why = causes.length === 0 ? [] : [say('state.why', { causes: causes.join(' · ') })]
  return { tone: 'warn', isDear: true, query: `?${query}`, text: [what, ...why].join(' ') }
}

/** A figure is a cause if it differs so many times from the usual one. */
const leastTimes = 1.1
/** If the causes multiply to an amount that differs more from that of the day, all figures are said. */
const mostRounding = 1.05

/** What was other than on a usual day: requests, tokens in each, what a token cost, and the hours. */
function causesOf({ why, unit, times }: DearDay, speech: Speech): readonly string[] {
  const { say } = speech
  const { requests, tokensTimes, priceTimes, model, hours } = why
  const factors = [
    requests !== null && {
      ratio: requests.count / requests.usual,
      text: say('why.requests', { requests: requests.count, usual: roundCount(requests.usual) }),
    },
    tokensTimes !== null && {
      ratio: tokensTimes,
      text: say('why.tokens', { times: roundFactor(tokensTimes) }),
    },
    priceTimes !== null && {
      ratio: priceTimes,
      text: say(wordOfPrice(why), {
        times: roundFactor(priceTimes),
        ...(model !== null && { model }),
      }),
    },
  ].filter((each) => each !== false)
  const listed = factors.filter(({ ratio }) => Math.max(ratio, 1 / ratio) >= leastTimes)
  const off = listed.reduce((product, { ratio }) => product * ratio, 1) / times
  const said = Math.max(off, 1 / off) > mostRounding ? factors : listed
  return [
    ...said.map(({ text }) => text),
    ...hours.map(({ amount, fromUs, toUs }) =>
      say('why.hours', {
        amount: speech.amount(unit, amount),
        from: speech.clock(fromUs),
        to: speech.clock(toUs),
      }),
    ),
  ]
}

function wordOfPrice({ model, tokensTimes, priceTimes }: DearDay['why']) {
  if (model !== null) return priceTimes! < 1 ? 'why.cheaper' : 'why.dearer'
  return tokensTimes === null ? 'why.request' : 'why.price'
}

/** A factor with so many digits that the factors still multiply to the claim. */
const roundFactor = (times: number) =>
  times < 2 ? Number(times.toPrecision(3)) : Number(times.toFixed(times < 20 ? 1 : 0))

/** A mean of counts, with as many digits as a ratio of it needs. */
const roundCount = (count: number) => Number(count.toFixed(count < 2 ? 2 : count < 20 ? 1 : 0))
