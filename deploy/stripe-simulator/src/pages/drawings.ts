import { html } from './html.ts'

/** A rover's face: flat fills, two-pixel rounded strokes. */
export const robot = html`<svg
  viewBox="0 0 48 48"
  aria-hidden="true"
  fill="none"
  stroke="#14233d"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M24 5v7" stroke="currentColor" />
  <circle cx="24" cy="4.5" r="2.5" fill="#e8621f" stroke="currentColor" />
  <rect x="7" y="12" width="34" height="26" rx="8" fill="#3fae74" />
  <path d="M3 21v8M45 21v8" stroke="currentColor" />
  <rect x="12" y="18" width="24" height="12" rx="6" fill="#eaf6ff" />
  <circle cx="18.5" cy="24" r="2.5" fill="#14233d" />
  <circle cx="29.5" cy="24" r="2.5" fill="#14233d" />
  <path d="M20 34h8" />
  <path d="M16 38v5M32 38v5M12 43h8M28 43h8" stroke="currentColor" />
</svg>`

export const note = html`<svg
  viewBox="0 0 24 24"
  aria-hidden="true"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M9 3h6M10 3v6l-5.5 9.2A1.9 1.9 0 0 0 6.1 21h11.8a1.9 1.9 0 0 0 1.6-2.8L14 9V3" />
  <path d="M7.5 15h9" />
</svg>`

export const tick = html`<svg
  class="badge done"
  viewBox="0 0 48 48"
  aria-hidden="true"
  fill="none"
  stroke="currentColor"
  stroke-width="3"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="24" cy="24" r="20" />
  <path d="m15 25 6 6 12-13" />
</svg>`

export const clock = html`<svg
  class="badge wrong"
  viewBox="0 0 48 48"
  aria-hidden="true"
  fill="none"
  stroke="currentColor"
  stroke-width="3"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="24" cy="24" r="20" />
  <path d="M24 13v12l7 5" />
</svg>`

export const shield = html`<svg
  class="badge ask"
  viewBox="0 0 48 48"
  aria-hidden="true"
  fill="none"
  stroke="currentColor"
  stroke-width="3"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M24 5 8 11v11c0 11 7 18 16 21 9-3 16-10 16-21V11z" />
  <path d="M24 17v9M24 32v.1" />
</svg>`
