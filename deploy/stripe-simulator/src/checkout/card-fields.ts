import { html, type Html } from '../pages/html.ts'
import { grouped, testCards } from '../payments/cards.ts'
import type { PayField } from './pay.ts'

/** The fields of a card, with the test cards to choose from. */
export function cardFields(problem: (field: PayField) => string, name: string): Html {
  return html`${field({ name: 'number', label: 'Card number', autocomplete: 'cc-number', inputmode: 'numeric', placeholder: '4242 4242 4242 4242', maxlength: 23, problem: problem('number') })}
    <div class="pair">
      ${field({ name: 'expiry', label: 'Expiry date', autocomplete: 'cc-exp', inputmode: 'numeric', placeholder: 'MM / YY', maxlength: 9, problem: problem('expiry') })}
      ${field({ name: 'cvc', label: 'Security code', autocomplete: 'cc-csc', inputmode: 'numeric', placeholder: 'CVC', maxlength: 4, problem: problem('cvc') })}
    </div>
    ${field({ name: 'name', label: 'Name on card', autocomplete: 'cc-name', value: name, maxlength: 256, problem: problem('name') })}
    ${testCardList()}`
}

export interface FieldOptions {
  name: PayField | 'line2'
  label: string
  autocomplete: string
  problem: string
  type?: string
  value?: string
  inputmode?: string
  placeholder?: string
  maxlength?: number
  readonly?: boolean
  optional?: boolean
}

export function field(options: FieldOptions): Html {
  const { name, problem } = options
  return html`<div class="field">
    <label for="${name}">${options.label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${options.type ?? 'text'}"
      value="${options.value ?? ''}"
      autocomplete="${options.autocomplete}"
      ${options.inputmode !== undefined && html`inputmode="${options.inputmode}"`}
      ${options.placeholder !== undefined && html`placeholder="${options.placeholder}"`}
      ${options.maxlength !== undefined && html`maxlength="${options.maxlength}"`}
      ${options.readonly === true && html`readonly`}
      ${options.optional !== true && html`required`}
      aria-describedby="${name}-error"
      ${problem !== '' && html`aria-invalid="true" autofocus`}
    />
    <p id="${name}-error" class="error" role="alert">${problem}</p>
  </div>`
}

function testCardList(): Html {
  return html`<details>
    <summary>Test cards</summary>
    <ul class="cards">
      ${testCards.map(
        (card) =>
          html`<li>
            <button type="button" data-card="${grouped(card.number)}">
              <code>${grouped(card.number)}</code> <span>${card.label}</span>
            </button>
          </li>`,
      )}
    </ul>
    <div class="cards"><p>Choose one to fill it in, or type it: any date in the future and any three digits.</p></div>
  </details>`
}
