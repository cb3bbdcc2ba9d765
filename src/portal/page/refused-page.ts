import { visible } from '../../user/hostile.ts'
import { type Html, html } from '../../user/html.ts'
import type { Problem } from '../api/problem.ts'
import type { Speech } from './speech.ts'

/** What a link may ask for that an account does not have. */
const asked = ['model', 'key', 'tag', 'unit', 'by'] as const

/**
 * The page of a link that cannot be shown, such as a saved one to a model that is no longer used: what is wrong, and a way to all of the usage.
 * The page's script tells its host the code.
 *
 * @param search the parameters of the link
 */
export function refusedPage(
  { status, code, message, hint }: Problem,
  search: URLSearchParams,
  { say, list }: Speech,
): Html {
  const names = asked.flatMap((name) => search.getAll(name).map(visible))
  const isGone = status === 404 && names.length > 0
  const text = isGone ? say('page.gone', { name: list(names) }) : say('page.unfit')
  return html`<main class="page" data-error="${code}"><p role="status">${text}</p>${!isGone && html`<p class="about">${[message, hint].filter(Boolean).join('. ')}</p>`}<p><a href="?">${say('page.back')}</a></p></main>`
}
