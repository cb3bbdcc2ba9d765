import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type InteractiveChart, interactiveRuntime } from '../chart/interactive.ts'
import { pageStyle } from '../chart/page-style.ts'
import { type Html, html, scriptJson, trusted } from '../user/html.ts'
import { boardScript } from './usage/board/board.ts'

/** As the policy of a page names its own style or script. */
export const hashOf = (text: string) =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const filterScript = new URL('../../src/report/filter.js', import.meta.url)

export interface PageParts {
  readonly title: string
  readonly body: Html
  /** Live charts by the id of their figure. If empty, the runtime is omitted. */
  readonly charts: Readonly<Record<string, InteractiveChart>>
  /** Listens to events of the server that delivers the page. Absent in a file. */
  readonly live?: { readonly script: string; readonly head: Html }
}

/**
 * One standalone HTML file. Styles and the script are inline and allowed by their hash; every other source is
 * forbidden. So nothing that a service sent can run, load or submit.
 */
export function renderDocument({ title, body, charts, live }: PageParts): string {
  const style = pageStyle(new URL('../../src/report/page.css', import.meta.url))
  const isInteractive = Object.keys(charts).length > 0
  const scripts = [
    isInteractive && interactiveRuntime(),
    body.text.includes(' data-filter>') && readFileSync(filterScript, 'utf8'),
    body.text.includes('<div id="board"') && boardScript(),
    live?.script,
  ].filter((each) => typeof each === 'string')
  const script = scripts.length === 0 ? null : scripts.join('\n')
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    script !== null && `script-src ${hashOf(script)}`,
    live !== undefined && "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ]
    .filter(Boolean)
    .join('; ')
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trusted(style)}</style>
${live?.head}
</head>
<body>
${body}
${isInteractive && html`<script type="application/json" id="chart-data">${scriptJson(charts)}</script>`}
${script !== null && html`<script>${trusted(script)}</script>`}
</body>
</html>
`.text
}
