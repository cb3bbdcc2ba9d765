import { type Html, html } from '../../user/html.ts'
import { roundTimes } from '../figures/cause.ts'
import type { DearDay } from '../figures/dear-day.ts'
import type { CauseName, MainCause } from '../figures/main-cause.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

type Tone = 'fail' | 'warn' | 'none' | 'good'
const order: readonly Tone[] = ['fail', 'warn', 'none', 'good']
const signs: Readonly<Record<Tone, string>> = { fail: '✕', warn: '!', none: '…', good: '✓' }

interface State {
  readonly tone: Tone
  readonly text: Html | string
  /** The view that shows it. */
  readonly query: string | null
  /** Of the dear day: the figures behind it. */
  readonly factors?: string
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

/** The worst thing that a customer should know, always in the same place, what made the dearest day dear, and the others below. */
export function renderState(data: PageData, speech: Speech): Html {
  const [worst, ...rest] = statesOf(data, speech)
  const dear = rest.find(({ factors }) => factors !== undefined)
  const others = rest.filter((each) => each !== dear)
  const said = ({ text, query, factors }: State) =>
    html`${text}${query !== null && html` <a href="${query}" data-keep>${speech.say('state.show')}</a>`}${factors && html`<small class="factors">${factors}</small>`}`
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

/** The dearest day: how much, beside a usual one, and what most of that came from; its view is of the same unit. */
function dearState(dear: DearDay, { units }: PageData, speech: Speech): State {
  const { say } = speech
  const amount = speech.amount(dear.unit, dear.amount)
  const day = speech.weekday(dear.fromUs)
  const what = say('state.dear', { day, amount, times: roundTimes(dear.times) })
  const from = dear.cause !== null && causeOf(dear.cause, dear, speech)
  const query = new URLSearchParams({
    ...{ from: speech.date(dear.fromUs), to: speech.date(dear.toUs) },
    ...(units.length > 1 ? { unit: dear.unit } : {}),
  })
  return {
    tone: 'warn',
    text: html`<strong>${what}</strong>${from && ` ${from}`}`,
    query: `?${query}`,
    factors: factorsOf(dear, speech).join(' · '),
  }
}

/** What most of a dear day came from, in one sentence. */
function causeOf({ amount, names, spans }: MainCause, dear: DearDay, speech: Speech): string {
  const { say, clock } = speech
  const isAll = Number(amount) === Number(dear.amount)
  const part = isAll
    ? say('dear.all')
    : say('dear.part', { amount: speech.amount(dear.unit, amount) })
  const said = { part, names: namesOf(names, speech) }
  if (spans.length === 0) return say('dear.names', said)
  const times = speech.list(
    spans.map(({ fromUs, toUs }) => say('dear.span', { from: clock(fromUs), to: clock(toUs) })),
  )
  return say(names.length === 0 ? 'dear.at' : 'dear.namesAt', { ...said, times })
}

/** A key, own dimensions, and last a model. */
function namesOf(names: readonly CauseName[], speech: Speech): string {
  const { say } = speech
  const said = ({ of, name, tag }: CauseName) =>
    say(`cause.${of}`, { name, ...(tag !== null && { tag: speech.tag(tag) }) })
  const model = names.find(({ of }) => of === 'model')
  const others = names.filter((each) => each !== model).map(said)
  if (model === undefined) return speech.list(others)
  return others.length === 0
    ? said(model)
    : say('cause.with', { names: speech.list(others), model: model.name })
}

/** A figure is a cause if it differs so many times from the usual one. */
const leastTimes = 1.1
/** If the causes multiply to an amount that differs more from that of the day, all figures are said. */
const mostRounding = 1.05

/** What was other than on a usual day: requests, tokens in each, and what a token cost. */
function factorsOf({ why, times }: DearDay, { say }: Speech): readonly string[] {
  const { requests, tokensTimes, priceTimes, model } = why
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
  return said.map(({ text }) => text)
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
