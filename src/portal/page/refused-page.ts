import { visible } from '../../user/hostile.ts'
import { type Html, html } from '../../user/html.ts'
import type { Problem } from '../api/problem.ts'
import type { Speech } from './speech.ts'

/**
 * The page of a link that cannot be shown, such as a saved one to a model that is no longer used: what is wrong, and a way to all of the usage.
 * The page's script tells its host the code. A period is the reader's own. What else a developer can cure is said in English, as the API
 * says it; what a token does not show, a reader cannot cure.
 */
export function refusedPage(
  { status, code, message, hint, gone }: Problem,
  { say, list }: Speech,
): Html {
  const isPeriod = code === 'bad-period'
  const text =
    gone.length > 0
      ? say('page.gone', { name: list(gone.map(visible)) })
      : say(isPeriod ? 'page.period' : 'page.unfit')
  const about = status === 400 && !isPeriod && [message, hint].filter((each) => each !== undefined)
  return html`<main class="page" data-error="${code}"><p role="status">${text}</p>${about && html`<p class="about" lang="en">${sentences(about)}</p>`}<p><a href="?">${say('page.back')}</a></p></main>`
}

const sentences = (texts: readonly string[]) =>
  texts.map((text) => (text.endsWith('.') ? text : `${text}.`)).join(' ')
