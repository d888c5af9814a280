const name = "ÿþ";
// the text is not valid UTF-8
