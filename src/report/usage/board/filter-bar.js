// The filter bar: the period, the names, what is shown and by which names.
import { initial } from './choice.js'
import { h } from './elements.js'
import { button, field, make } from './nodes.js'
import { dateOf, dimensions, hourOf } from './sums.js'
import { titleOf } from './tables.js'

/** @import { Served } from './browser.js' */
/** @import { Dimension } from './cells.ts' */
/** @import { BoardData } from './data.ts' */
/** @import { BoardSpeech, Choice } from './types.ts' */

/**
 * @param {string} name
 * @param {string} value
 * @param {readonly (readonly [value: string, text: string])[]} options
 * @param {(value: string) => void} choose
 */
function select(name, value, options, choose) {
  const made = document.createElement('select')
  made.append(...options.map(([each, text]) => new Option(text, each, false, each === value)))
  made.addEventListener('change', () => choose(made.value))
  made.dataset.name = name
  return made
}

/**
 * Fills the bar with the choice; what has the focus keeps it.
 *
 * @param {HTMLElement} bar
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {BoardSpeech} speech
 * @param {Served} served
 * @param {(changed: Partial<Choice>) => void} change
 * @param {(from: number, to: number) => void} period
 */
export function fillFilters(bar, data, choice, speech, served, change, period) {
  const { say } = speech
  /**
   * @param {'from' | 'to'} name
   * @param {number} hour
   */
  function date(name, hour) {
    const made = document.createElement('input')
    made.type = 'date'
    if (served.go === undefined) {
      made.min = dateOf(data.from)
      made.max = dateOf(data.to - 1)
    }
    made.defaultValue = dateOf(hour)
    made.dataset.name = name
    let [asked, isTyping] = [made.value, false]
    const ask = () => {
      if (made.value < '1' || made.value === asked) return
      asked = made.value
      const start = hourOf(asked)
      const [from, to] = name === 'from' ? [start, choice.to] : [choice.from, start + 24]
      made.setCustomValidity(from < to ? '' : say('disorder'))
      if (made.reportValidity()) period(from, to)
    }
    // Each digit changes the date: one that is typed is whole when it is left.
    made.onkeydown = ({ key }) => {
      isTyping = key !== 'Enter' && key !== ' '
      if (!isTyping) ask()
    }
    made.onpointerdown = () => {
      isTyping = false
    }
    made.onchange = () => isTyping || ask()
    made.onblur = ask
    // A browser writes dates in its own order: the page says them in its language.
    const said = h(
      'span',
      { 'aria-hidden': 'true' },
      speech.timeOf('day', { start: hour, end: hour }),
    )
    const whole = make(h('span', { class: 'b-date' }))
    whole.append(made, make(said))
    return whole
  }

  const kept = document.activeElement?.getAttribute('data-name')
  const { split } = served
  const splits = split === undefined ? [] : data.splits
  const shown = dimensions.filter((name) => data.names[name].length > 1)
  // The server filters by a tag: its values are links.
  const filtered = shown.filter(
    (name) => name !== 'key' || data.keyIs !== 'tag' || split === undefined,
  )
  /** @type {(name: Dimension) => readonly (readonly [string, string])[]} */
  const names = (name) => data.names[name].map((each) => [each, speech.nameOf(each, name)])
  bar.replaceChildren(
    field(say('from'), date('from', choice.from)),
    field(say('to'), date('to', choice.to - 1)),
    ...filtered.map((name) =>
      field(
        say(name),
        select(
          name,
          choice[name],
          [['', say(name === 'key' ? 'allKeys' : 'all')], ...names(name)],
          (value) => change({ [name]: value }),
        ),
      ),
    ),
    field(
      say('show'),
      select(
        'metric',
        choice.metric,
        data.metrics.map((metric) => [metric, titleOf(data, metric)]),
        (value) => change({ metric: data.metrics.find((each) => each === value) ?? choice.metric }),
      ),
    ),
    ...(shown.length + splits.length === 0
      ? []
      : [
          field(
            say('by'),
            select(
              'by',
              choice.by,
              [
                ...dimensions
                  .filter((name) => shown.includes(name) || name === choice.by)
                  .map((name) => /** @type {const} */ ([name, say(name)])),
                ...splits.map(({ by, name }) => /** @type {const} */ ([`split:${by}`, name])),
              ],
              (value) =>
                split !== undefined && value.startsWith('split:')
                  ? split(value.slice('split:'.length))
                  : change({ by: dimensions.find((each) => each === value) ?? choice.by }),
            ),
          ),
        ]),
    button(say('reset'), say('resetAll'), () => change(initial(data))),
  )
  bar.hidden = false
  /** @type {HTMLElement | null} */
  const again = kept ? bar.querySelector(`[data-name="${kept}"]`) : null
  again?.focus()
}
