export { CancelPage } from './CancelPage.tsx'
export { ChoicePage } from './ChoicePage.tsx'
export { MovePage } from './MovePage.tsx'
