const a = 0123;
const b = 12px;
// digits that form no number
