// Elements of the page, made one by one: text is set as text, never as markup.
import { h } from './elements.js'

/** @import { Element as Drawn, Tree } from './types.ts' */

const svgNames = new Set(['svg', 'path', 'text', 'rect', 'title'])

/**
 * @param {Tree} tree
 * @returns {Node}
 */
export const nodeOf = (tree) =>
  typeof tree === 'object' ? make(tree) : document.createTextNode(String(tree))

/** @param {Drawn} tree */
export function make({ name, attributes, children }) {
  const element = svgNames.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  element.append(...children.map(nodeOf))
  return element
}

/**
 * @param {string} text
 * @param {string} label
 * @param {() => void} act
 */
export function button(text, label, act) {
  const made = make(h('button', { type: 'button', class: 'rows', 'aria-label': label }, text))
  made.addEventListener('click', act)
  return made
}

/** @type {(label: string, control: Node) => Node} */
export const field = (label, control) => {
  const made = make(h('label', {}, h('span', {}, label)))
  made.append(control)
  return made
}

/**
 * Gives the reader a file.
 *
 * @param {string} name
 * @param {Blob} content
 */
export function saveAs(name, content) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
