import { type Html, html } from '../../user/html.ts'
import type { Field, FormIssue } from '../customers.ts'
import type { Account } from '../ledger/accounts.ts'

/** The person who looks at a page. */
export interface Viewer {
  readonly account: Account
  /** `usage`: signed in with an API key, without permission to change anything. */
  readonly scope: 'account' | 'usage'
  readonly formToken: string
}

export interface Document {
  readonly title: string
  /** The path of the page. The menu marks it. */
  readonly path: string
  readonly viewer: Viewer | null
  readonly main: Html
  /** Whether the page updates itself while it is open. */
  readonly live?: boolean
}

const menu = [
  { path: '/dashboard', name: 'Dashboard', scope: 'account' },
  { path: '/my-credits', name: 'My credits', scope: 'usage' },
] as const

export function document({ title, path, viewer, main, live = false }: Document): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/pages/icon.svg">
<link rel="stylesheet" href="/pages/page.css">
${live && html`<script src="/pages/live.js" defer></script>`}
</head>
<body>
<div class="page">
<header class="top">
<a class="brand" href="${viewer === null ? '/sign-in' : '/dashboard'}"><b>assay</b> reference service</a>
${viewer !== null && menuOf(viewer, path)}
</header>
<main>
${main}
</main>
${live && html`<p class="aloud" role="status" data-aloud></p>`}
</div>
</body>
</html>
`
}

function menuOf({ account, scope, formToken }: Viewer, path: string): Html {
  return html`<nav>
${menu
  .filter((item) => scope === 'account' || item.scope === 'usage')
  .map(
    (item) =>
      html`<a href="${item.path}"${item.path === path && html` aria-current="page"`}>${item.name}</a>`,
  )}
${
  formToken !== '' &&
  html`<form method="post" action="/sign-out"><input type="hidden" name="token" value="${formToken}">
<button class="quiet" title="Signed in as ${account.name}">Sign out <span class="who">${account.name}</span></button></form>`
}
</nav>`
}

/** All errors of a form, shown above it. */
export function complaint(issues: readonly FormIssue[], form = 'form'): Html | null {
  if (issues.length === 0) return null
  const summary = issues.map(
    (fault) => html`<span id="${idOf(fault.field, form)}">${fault.summary}</span>`,
  )
  return html`<div class="notice fail" role="alert" id="complaint">${
    summary.length === 1 ? summary : html`<ul>${summary.map((each) => html`<li>${each}</li>`)}</ul>`
  }</div>`
}

/** Attributes of an invalid field. The first of them gets the focus. */
export function wrong(
  issues: readonly FormIssue[],
  field: Field | null,
  form = 'form',
): Html | false {
  const at = issues.findIndex((issue) => issue.field === field)
  return (
    at >= 0 &&
    html` aria-invalid="true" aria-describedby="${idOf(field, form)}"${at === 0 && html` autofocus`}`
  )
}

const idOf = (field: Field | null, form: string) => `wrong-${field ?? form}`

export function messagePage(title: string, text: string, viewer: Viewer | null): Html {
  return document({
    title,
    path: '',
    viewer,
    main: html`<section class="card narrow"><h1>${title}</h1><p>${text}</p>
<p>${
      viewer?.scope === 'usage'
        ? html`<a href="/my-credits">Go to my credits</a>`
        : html`<a href="/dashboard">Go to the dashboard</a>`
    }</p></section>`,
  })
}

/** The usage page in a frame that has no session. */
export function framedWithoutSession(): Html {
  return document({
    title: 'My credits',
    path: '',
    viewer: null,
    main: html`<section class="card narrow"><h1>Your use is not shown here</h1>
<p>You are not signed in, or this browser keeps your session from pages of other sites.</p>
<p><a href="/my-credits" target="_blank" rel="noopener">Open my credits</a></p></section>`,
  })
}
