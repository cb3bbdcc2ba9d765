// The cards and tables of a choice.
import { drawTable } from './draw.js'
import { speechOf } from './speech.js'
import { dimensions, groups, total } from './sums.js'

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1)

/** The metric's name in a title. */
export function titleOf(data, metric) {
  const { say } = speechOf(data)
  const { unit, money } = data
  if (metric === 'credits') return say('use', { unit, Unit: capital(unit) })
  return metric === 'money' ? say('money', money) : say(metric)
}

export const share = (part, whole) => (whole === 0 ? null : (100 * part) / whole)

/** Cards as name, label, value and what stands under it. */
export function cardsOf(data, { requests, failed, unknown, credits, input, output }) {
  const speech = speechOf(data)
  const { say, show, cents } = speech
  const known = unknown > 0 ? say('unknownCost', { requests: unknown }) : ''
  const tokens = input === null && output === null ? null : (input ?? 0) + (output ?? 0)
  const has = (metric) => data.metrics.includes(metric)
  return [
    ...(has('credits')
      ? [
          [
            'credits',
            titleOf(data, 'credits'),
            amount(say, speech.of('credits').show, credits),
            known,
          ],
        ]
      : []),
    ...(has('money')
      ? [
          [
            'money',
            titleOf(data, 'money'),
            amount(say, cents, credits === null ? null : credits * data.money.perCredit),
            '',
          ],
        ]
      : []),
    ['requests', say('requests'), show(requests), ''],
    [
      'tokens',
      say('tokens'),
      amount(say, show, tokens),
      tokens === null ? '' : say('inOut', { input: show(input), output: show(output) }),
    ],
    [
      'failed',
      say('failed'),
      requests === 0 ? '–' : say('percent', { share: share(failed, requests) }),
      '',
    ],
  ]
}

const amount = (say, show, value) => (value === null ? say('unmeasured') : show(value))

/** The most rows of a table of names. */
const mostRows = 30

const titles = { model: 'byModel', key: 'byKey', endpoint: 'byEndpoint' }

/** Each dimension with more than one name, the greatest first. */
export function tablesOf(data, places, { metric }) {
  const speech = speechOf(data)
  const { say, show } = speech
  return dimensions
    .map((by) => ({ by, all: groups(data, places, by, metric) }))
    .filter(({ by, all }) => all.length > 1 || (data.names[by].length > 1 && all.length > 0))
    .map(({ by, all }) => {
      const hasCredits = data.metrics.includes('credits')
      const rows = all.slice(0, mostRows).map(({ name, places: some }) => {
        const sums = total(data, some)
        return [
          speech.nameOf(name, by),
          ...(hasCredits ? [speech.of('credits').show(sums.credits)] : []),
          ...[sums.requests, sums.input, sums.output, sums.failed],
        ]
      })
      const whole = say(titles[by])
      const [shown, of] = [show(mostRows), show(all.length)]
      const title = all.length > mostRows ? say('some', { title: whole, shown, all: of }) : whole
      const heads = [
        say(by),
        ...(hasCredits ? [say('unitHead', { unit: data.unit })] : []),
        ...['requestsHead', 'inputTokens', 'outputTokens', 'failedHead'].map((head) => say(head)),
      ]
      return { by, title, tree: drawTable(speech, title, heads, rows) }
    })
}

/** The heads of a table of single requests. */
export function requestHeads(data) {
  const { say } = speechOf(data)
  const heads = ['time', 'model', 'key', 'endpoint', 'status', 'inputTokens', 'outputTokens']
  return [...heads.map((head) => say(head)), say('unitHead', { unit: data.unit })]
}

/** The requests of an hour, if the page holds them. */
export function requestsOf(data, choice) {
  if (data.requests === null || choice.to - choice.from !== 1) return null
  const { nameOf } = speechOf(data)
  const { hour, clock, model, key, endpoint, status, input, output, credits } = data.requests
  const wanted = (column, name) =>
    choice[name] === '' || column === data.names[name].indexOf(choice[name])
  const named = (name, place) => nameOf(data.names[name][place], name)
  return hour.flatMap((each, at) =>
    each === choice.from &&
    wanted(model[at], 'model') &&
    wanted(key[at], 'key') &&
    wanted(endpoint[at], 'endpoint')
      ? [
          [
            ...[clock[at], named('model', model[at]), named('key', key[at])],
            ...[named('endpoint', endpoint[at]), status[at], input[at], output[at], credits[at]],
          ],
        ]
      : [],
  )
}
