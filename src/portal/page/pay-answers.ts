import { html } from '../../user/html.ts'
import type { Answers } from '../api/shapes.ts'
import { type Answer, type Cell, endedOn, isMoney, unitsOf } from './answer.ts'
import { roughly } from './columns.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/** What will be paid, in each unit: of money, what the month will probably cost; of credits or prepaid money that are there, nothing. */
export function payAnswers(data: PageData, speech: Speech): Cell {
  const answers = unitsOf(data).flatMap(({ unit }) =>
    unit === data.credits?.unit && Number(data.credits.remaining ?? 0) > 0
      ? [
          prepaidAnswer(data, speech),
          ...(data.projections.has(unit) ? monthIn(unit, data, speech, true) : []),
        ]
      : monthIn(unit, data, speech),
  )
  return answers.length > 0
    ? answers
    : [{ label: speech.say('card.month'), value: '–', under: [unknown(data, speech)] }]
}

const unknown = ({ isPending }: PageData, { say }: Speech) =>
  say(isPending ? 'month.pending' : 'month.unknown')

/** The month of now, which a forecast is of. */
const payLabel = ({ summary }: PageData, speech: Speech) =>
  speech.say('card.pay', { month: speech.monthName(Date.parse(summary.refreshedAt) * 1000) })

const prepaidAnswer = (data: PageData, speech: Speech): Answer => ({
  label: payLabel(data, speech),
  value: speech.say('pay.nothing'),
  under: [speech.say(`answer.prepaid${ofHeld(data)}`)],
})

/** The end of words that say money where others say credits. */
const ofHeld = ({ credits }: Pick<PageData, 'credits'>) =>
  credits === null || credits.unit === 'credits' ? ('' as const) : ('.money' as const)

/** @param beside whether it follows what is to pay, and is said in fewer lines */
function monthIn(unit: string, data: PageData, speech: Speech, beside = false): Cell {
  const { projections, price } = data
  const { say } = speech
  const label = isMoney(unit) ? payLabel(data, speech) : say('card.month')
  const course = projections.get(unit)
  // What is over before the period is no question of it.
  if (unit !== data.unit && data.units.find((each) => each.unit === unit)?.lastUs === null)
    return []
  if (course === undefined)
    return unit === data.unit ? [{ label, value: '–', under: [unknown(data, speech)] }] : []
  // Beside the amount, its unit is said already.
  const [low, high] = [course.low, course.high].map((each) => speech.amounts(unit).about(each))
  // What is not expected to be used any more is as exact as what was.
  const isOver = Math.abs(course.high - course.used) <= Math.abs(course.used) / 200
  return [
    {
      label,
      value: isOver
        ? speech.amount(unit, String(course.used))
        : say('month.about', { amount: speech.about(unit, course.median) }),
      under: [
        isOver
          ? endedOn(unit, data, speech)
          : !isMoney(unit) && !beside && say('month.until', { date: speech.day(course.toUs - 1) }),
        !isOver &&
          low !== high &&
          say('month.range', { low: low!, high: speech.about(unit, course.high) }),
        unit === 'credits' &&
          price !== null &&
          // Of the credits as they are shown, so that a reader who multiplies finds the same.
          say('month.cost', {
            amount: speech.amount(
              price.currency,
              (roughly(course.median) * Number(price.value)).toFixed(6),
            ),
          }),
        isMoney(unit) && unit === data.unit && say('month.noInvoice'),
      ],
    },
  ]
}

/** When the credits or the prepaid money end, and how much is left; empty without a balance. */
export function endAnswers(data: PageData, speech: Speech): Cell {
  const { credits, outlook } = data
  const { say } = speech
  if (credits === null || credits.remaining === null) return []
  const of = ofHeld(data)
  const left = speech.amount(credits.unit, credits.remaining)
  const median = outlook?.runsOut?.median ?? null
  if (Number(credits.remaining) <= 0 || !outlook?.known || median === null || isPast(outlook)) {
    const sentence = html`<span class="answer">${lasts(data, speech)}</span>`
    return [{ label: say(`card.balance${of}`), value: left, under: [sentence] }]
  }
  return [
    {
      label: say(`card.ends${of}`),
      value: say('ends.about', { date: speech.shortDay(Date.parse(median) * 1000) }),
      under: [
        html`<span class="answer">${say('ends.left', { amount: left })}</span>`,
        ...rangeOf(data, speech),
      ],
    },
  ]
}

/** Why no date is said. */
function lasts(data: PageData, { say, day }: Speech): string {
  const { credits, outlook, isPending, lastUs } = data
  const of = ofHeld(data)
  if (Number(credits!.remaining) <= 0) return say(`answer.none${of}`)
  if (!outlook?.known) return say(isPending ? `answer.pending${of}` : `answer.unknown${of}`)
  const median = outlook.runsOut?.median ?? null
  return median === null
    ? say(`answer.long${of}`)
    : say('answer.past', { date: day(lastUs ?? Date.parse(median) * 1000) })
}

/** Whether the credits would have run out before now, if usage had gone on. */
const isPast = ({ runsOut, fan }: Answers['outlook']) =>
  runsOut?.median != null && Date.parse(runsOut.median) < Date.parse(fan[0]!.at)

/** The days between which the credits probably end, and when to buy more: before one future in ten has none left. */
function rangeOf({ outlook, toUs }: PageData, { say, near }: Speech): readonly string[] {
  const { early = null, late = null } = outlook?.runsOut ?? {}
  if (early === null || late === null) return [say('answer.pace')]
  const [first, last] = [early, late].map((each) => near(Date.parse(each) * 1000, toUs))
  return [
    first === last ? say('answer.pace') : say('answer.range', { early: first!, late: last! }),
    say('answer.buy', { date: first! }),
  ]
}
