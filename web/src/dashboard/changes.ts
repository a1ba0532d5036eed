export { CancelPage } from './CancelPage.tsx'
export { ChoicePage } from './ChoicePage.tsx'
export { CorrectPage } from './CorrectPage.tsx'
export { MovePage } from './MovePage.tsx'
