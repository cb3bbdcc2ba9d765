import { readFileSync } from 'node:fs'
import { chartCss } from './theme.ts'

const base = new URL('../../src/chart/page.css', import.meta.url)

/** The complete style sheet of a page: the variables of drawings, the common rules, and the page's own. */
export const pageStyle = (own: URL): string =>
  chartCss + readFileSync(base, 'utf8') + readFileSync(own, 'utf8')
